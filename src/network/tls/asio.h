// Asio without Boost, only what is used of it: it compiles slowly. For .cc files of this folder alone.
#pragma once

#ifndef ASIO_STANDALONE
#define ASIO_STANDALONE
#endif
#ifndef ASIO_NO_DEPRECATED
#define ASIO_NO_DEPRECATED
#endif

// ThreadSanitizer does not see fences; between one thread and its queue, which has a mutex, none is needed.
#ifdef DFROST_SANITIZED
#define ASIO_DISABLE_FENCED_BLOCK
#endif

#include <asio/connect.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
