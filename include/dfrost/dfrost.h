// All of dfrost's public headers.
#pragma once

#include "dfrost/adapter.h"
#include "dfrost/backbone.h"
#include "dfrost/config.h"
#include "dfrost/error.h"
#include "dfrost/figures.h"
#include "dfrost/geometry.h"
#include "dfrost/image.h"
#include "dfrost/matrix_view.h"
#include "dfrost/measure.h"
#include "dfrost/merge.h"
#include "dfrost/preprocessing.h"
#include "dfrost/run.h"
#include "dfrost/threads.h"
#include "dfrost/wasserstein.h"
