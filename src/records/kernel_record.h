// Steps along tangent kernels, and their figures.
#pragma once

#include "measure/figure.h"

namespace dfrost {

// Steps along tangent kernels (method.round = "ntk"), means over the clients that took one.
struct KernelRecord {
  double pictures = 0;     // whose Jacobians there were
  double steps = 0;        // of ntk.steps
  double evaluations = 0;  // products with the kernel that the solver took
};

template <>
const KernelRecord* part_of(const RoundRecord& record);

inline constexpr Figure kKernelFigures[] = {
    figure("kernel.pictures", "Pictures of a kernel", "pictures", Form::significant, Better::neither,
           figure_of<&KernelRecord::pictures>,
           "With method.round = ntk: pictures whose Jacobians a client had, its own among them, mean."),
    figure("kernel.steps", "Kernel steps", "steps", Form::significant, Better::neither,
           figure_of<&KernelRecord::steps>,
           "Steps along its kernel that a client took, out of ntk.steps, mean.")
        .in_events("ntk/steps")
        .drawn(Chart::from_zero),
    figure("kernel.evaluations", "Kernel products", "products", Form::significant, Better::lower,
           figure_of<&KernelRecord::evaluations>,
           "Products with its kernel that a client's solver took, mean.")
        .in_events("ntk/evaluations"),
};

}  // namespace dfrost
