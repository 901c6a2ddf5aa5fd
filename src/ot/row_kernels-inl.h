// What the row kernels share: vectors of a padded row. Included once per SIMD target, inside foreach_target.
#if defined(DFROST_TRANSPORT_ROW_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DFROST_TRANSPORT_ROW_KERNELS_INL_H_
#undef DFROST_TRANSPORT_ROW_KERNELS_INL_H_
#else
#define DFROST_TRANSPORT_ROW_KERNELS_INL_H_
#endif

#include <hwy/highway.h>

#include "ot/matrix.h"

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whole rows are read as vectors of T, which never reach beyond a row's padding.
template <class T>
using Tag = hn::CappedTag<T, PaddedMatrix<T>::kPadding>;
using Doubles = Tag<double>;

// A vector of T, widened where it is stored as float and computed on as double.
template <class T, class Stored>
HWY_INLINE hn::Vec<Tag<T>> load(const Stored* from) {
  const Tag<T> tag;
  if constexpr (sizeof(T) == sizeof(Stored)) {
    return hn::Load(tag, from);
  } else {
    return hn::PromoteTo(tag, hn::Load(hn::Rebind<Stored, Tag<T>>(), from));
  }
}

struct SquaredDifference {
  template <class Vector>
  static HWY_INLINE Vector add(Vector a, Vector b, Vector sum) {
    const Vector difference = hn::Sub(a, b);
    return hn::MulAdd(difference, difference, sum);
  }
};

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
