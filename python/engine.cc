// Frozen backbones, preprocessing and trained adapters: dfrost::engine for Python. A model may be called from
// several threads at once: each call takes its own threads and, with a gradient, its own tape.
#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <mutex>

#include "arrays.h"
#include "dfrost/adapter.h"
#include "dfrost/backbone.h"
#include "dfrost/error.h"
#include "dfrost/image.h"
#include "dfrost/preprocessing.h"
#include "dfrost/threads.h"
#include "finite_check.h"
#include "spares.h"
#include "words.h"

namespace dfrost::python {
namespace {

constexpr std::size_t kImagesAtOnce = 8;  // that are embedded together, as the backbone's own chunks are

// What all handles of one model share.
struct Model {
  std::unique_ptr<Backbone> backbone;
  Preprocessing preprocessing;
  std::size_t threads = 0;
  bool training = true;
  Spares<ThreadPool> pools;
  Spares<Backbone::Tape> tapes;
};

class LentPool {
 public:
  explicit LentPool(Model& model)
      : model_(model), pool_(model.pools.take([&] { return std::make_unique<ThreadPool>(model.threads); })) {}
  ~LentPool() { model_.pools.give_back(std::move(pool_)); }
  LentPool(const LentPool&) = delete;
  LentPool& operator=(const LentPool&) = delete;
  ThreadPool* get() const { return pool_.get(); }

 private:
  Model& model_;
  std::unique_ptr<ThreadPool> pool_;
};

// From the gradient of features back to that of the prompts they were computed under. May be called again.
class Back {
 public:
  Back(std::shared_ptr<Model> model, std::vector<py::ssize_t> features, std::vector<py::ssize_t> prompts)
      : model_(std::move(model)), features_(std::move(features)), prompts_(std::move(prompts)) {
    tape_ = model_->tapes.take([&] { return model_->backbone->make_tape(); });
  }
  ~Back() { model_->tapes.give_back(std::move(tape_)); }
  Back(const Back&) = delete;
  Back& operator=(const Back&) = delete;

  Backbone::Tape* tape() { return tape_.get(); }

  std::string repr() const {
    return fmt::format("<back: the gradient of features {} to that of prompts {}>", shape_text(features_),
                       shape_text(prompts_));
  }

  py::array_t<float> operator()(py::handle d_features) {
    const auto ndim = length(features_.size());
    const py::array d = float_array(d_features, "d_features", ndim);
    if (!std::equal(features_.begin(), features_.end(), d.shape(), d.shape() + d.ndim()))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("d_features has the shape {}, and the features have {}", shape_text(d),
                              shape_text(features_)),
                  "it is the gradient with respect to them, one number for each of theirs");
    const std::size_t width = model_->backbone->geometry().width;
    py::array_t<float> d_prompts(prompts_);
    const MatrixView<const float> in(static_cast<const float*>(d.data()),
                                     static_cast<std::size_t>(d.size()) / width, width);
    const MatrixView<float> out(d_prompts.mutable_data(), static_cast<std::size_t>(d_prompts.size()) / width,
                                width);
    const py::gil_scoped_release free;
    const std::lock_guard lock(mutex_);
    const LentPool pool(*model_);
    model_->backbone->backward(in, out, *tape_, pool.get());
    return d_prompts;
  }

 private:
  std::shared_ptr<Model> model_;
  std::vector<py::ssize_t> features_, prompts_;
  std::unique_ptr<Backbone::Tape> tape_;
  std::mutex mutex_;  // backward writes on the tape
};

// Either pictures that are prepared, [B, 3, S, S], or their embeddings, [B, patches, d].
struct ModelInput {
  py::array keep;
  std::size_t images = 0;
  bool embedded = false;
};

[[noreturn]] void refuse_images(const std::string& what, const Geometry& g) {
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("images {}, and this model takes float32 [B, 3, {}, {}] (or what embed() made of them)",
                  what, g.image_size, g.image_size),
      "model.preprocess(pictures) makes them from RGB bytes; one picture is a batch: images[None]");
}

ModelInput input_of(py::handle images, const Geometry& g) {
  if (!py::isinstance<py::array>(images) && !py::hasattr(images, "__dlpack__"))
    refuse_images(fmt::format("is {}", std::string(py::str(py::type::of(images).attr("__name__")))), g);
  if (py::isinstance<py::array_t<std::uint8_t>>(images)) refuse_images("are bytes", g);
  ModelInput input{float_array(images, "images", 0), 0, false};
  const py::array& a = input.keep;
  const auto side = length(g.image_size);
  const bool planes = a.ndim() == 4 && a.shape(1) == 3 && a.shape(2) == side && a.shape(3) == side;
  input.embedded = a.ndim() == 3 && a.shape(1) == length(g.patches()) && a.shape(2) == length(g.width);
  if (!planes && !input.embedded) refuse_images("have the shape " + shape_text(a), g);
  input.keep = float_array(images, "images", 3);
  input.images = static_cast<std::size_t>(a.shape(0));
  return input;
}

void require_finite_tokens(const ModelInput& input, const Geometry& g, ThreadPool* pool) {
  FiniteCheck check;
  const auto* tokens = static_cast<const float*>(input.keep.data());
  const std::size_t values = g.patches() * g.width;
  pool->parallel_for(input.images, [&](std::size_t image, std::size_t) {
    check.look(image, {tokens + image * values, values});
  });
  check.require("images");
}

void embed_images(const Model& model, const ModelInput& input, float* patches, ThreadPool* pool) {
  const Geometry& g = model.backbone->geometry();
  const auto* first = static_cast<const char*>(input.keep.data());
  const py::ssize_t stride = input.keep.strides(0);
  FiniteCheck check;
  const std::size_t values = 3 * g.image_size * g.image_size,
                    chunks = (input.images + kImagesAtOnce - 1) / kImagesAtOnce;
  pool->parallel_for(chunks, [&](std::size_t chunk, std::size_t) {
    const std::size_t begin = chunk * kImagesAtOnce, count = std::min(kImagesAtOnce, input.images - begin);
    thread_local std::vector<float> pixels;
    pixels.resize(count * values);
    for (std::size_t i = 0; i < count; ++i) {
      const auto* planes =
          reinterpret_cast<const float*>(first + static_cast<py::ssize_t>(begin + i) * stride);
      check.look(begin + i, {planes, values});
      planes_to_patches({planes, values}, g.image_size, g.patch_size,
                        std::span(pixels).subspan(i * values, values));
    }
    model.backbone->embed({pixels.data(), count * g.patches(), g.patch_values()},
                          {patches + begin * g.patches() * g.width, count * g.patches(), g.width}, nullptr);
  });
  check.require("images");
}

std::vector<py::ssize_t> feature_shape(const Geometry& g, std::size_t images) {
  if (g.special_tokens == 1) return {length(images), length(g.width)};
  return {length(images), length(g.special_tokens), length(g.width)};
}

// [n, d] for all images, or [B, n, d]; none: no prompts.
struct PromptArray {
  py::array keep;
  MatrixView<const float> view;
  std::size_t per_image = 0;
};

PromptArray prompts_of(py::handle object, std::size_t images, const Geometry& g) {
  if (object.is_none()) return {};
  PromptArray prompts{float_array(object, "prompts", 0), {}, 0};
  const py::array& a = prompts.keep;
  const bool shared = a.ndim() == 2, own = a.ndim() == 3 && a.shape(0) == length(images);
  if ((!shared && !own) || a.shape(a.ndim() - 1) != length(g.width))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("prompts have the shape {}, and have to be [n, {}], or [{}, n, {}]",
                            shape_text(a), g.width, images, g.width),
                "one set for all images, or one for each");
  prompts.keep = float_array(object, "prompts", 3);
  prompts.per_image = static_cast<std::size_t>(a.shape(a.ndim() - 2));
  prompts.view = {static_cast<const float*>(a.data()),
                  shared ? prompts.per_image : images * prompts.per_image, g.width};
  FiniteCheck check;
  for (std::size_t row = 0; row < prompts.view.rows(); ++row)
    check.look(shared ? row : row / prompts.per_image, prompts.view.row(row));
  check.require("prompts");
  return prompts;
}

py::object features(const std::shared_ptr<Model>& model, py::handle images, py::handle prompts,
                    py::handle with_gradient) {
  const bool gradient = flag_of(with_gradient, "gradient");
  const Geometry& g = model->backbone->geometry();
  const ModelInput input = input_of(images, g);
  const PromptArray given = prompts_of(prompts, input.images, g);
  if (gradient && given.per_image == 0)
    throw Error(ErrorCode::invalid_argument, "there are no prompts to take a gradient of", "pass prompts");
  if (gradient && !model->training)
    throw Error(ErrorCode::failed_precondition, "this backbone was loaded without what gradients need",
                "leave out training=False where it is loaded");
  py::array_t<float> result(feature_shape(g, input.images));
  const MatrixView<float> out(result.mutable_data(), input.images * g.special_tokens, g.width);
  std::unique_ptr<Back> back;
  if (gradient) {
    back = std::make_unique<Back>(
        model, feature_shape(g, input.images),
        std::vector<py::ssize_t>(given.keep.shape(), given.keep.shape() + given.keep.ndim()));
  }
  {
    const py::gil_scoped_release free;
    const LentPool pool(*model);
    std::vector<float> patches;
    const float* embedded = static_cast<const float*>(input.keep.data());
    if (!input.embedded) {
      patches.resize(input.images * g.patches() * g.width);
      embed_images(*model, input, patches.data(), pool.get());
      embedded = patches.data();
    } else {
      require_finite_tokens(input, g, pool.get());
    }
    const Batch batch{
        input.images, given.per_image, {embedded, input.images * g.patches(), g.width}, given.view};
    model->backbone->forward(batch, out, back ? back->tape() : nullptr, pool.get());
  }
  if (!back) return result;
  return py::make_tuple(std::move(result), std::move(back));
}

py::array_t<float> embed(Model& model, py::handle images) {
  const Geometry& g = model.backbone->geometry();
  const ModelInput input = input_of(images, g);
  if (input.embedded) throw Error(ErrorCode::invalid_argument, "images are embedded already");
  py::array_t<float> patches({length(input.images), length(g.patches()), length(g.width)});
  float* out = patches.mutable_data();
  const py::gil_scoped_release free;
  const LentPool pool(model);
  embed_images(model, input, out, pool.get());
  return patches;
}

py::array_t<float> classify(const Model& model, py::handle features) {
  const Geometry& g = model.backbone->geometry();
  const py::array in = float_array(features, "features", 3);
  if (g.classes == 0)
    throw Error(ErrorCode::failed_precondition, "the checkpoint has no classifier of its own",
                "take a fine-tuned checkpoint, or train a head");
  const auto shape = feature_shape(g, in.ndim() == 0 ? 0 : static_cast<std::size_t>(in.shape(0)));
  if (!std::equal(shape.begin(), shape.end(), in.shape(), in.shape() + in.ndim()))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("features have the shape {}, which is not what features() gives", shape_text(in)),
                "pass what features() gave, whole");
  py::array_t<float> logits({in.shape(0), length(g.classes)});
  const auto images = static_cast<std::size_t>(in.shape(0));
  const MatrixView<float> out(logits.mutable_data(), images, g.classes);
  const py::gil_scoped_release free;
  model.backbone->classify({static_cast<const float*>(in.data()), images * g.special_tokens, g.width}, out);
  return logits;
}

// [B, 3, crop, crop]: one patch that is the whole picture.
py::array_t<float> prepare(const Preprocessing& how, py::handle pictures, std::size_t threads) {
  const Pictures given = pictures_of(pictures, "images");
  Geometry whole;
  whole.patch_size = whole.image_size = how.crop;
  std::vector<float> planes;
  {
    const py::gil_scoped_release free;
    ThreadPool pool(given.views.size() > 1 ? threads : 1);
    planes = preprocess(given.views, how, whole, &pool);
  }
  return owned(std::move(planes), {length(given.views.size()), 3, length(how.crop), length(how.crop)});
}

std::shared_ptr<Model> load_model(py::handle name, py::handle precision, py::handle training,
                                  py::handle image_size, py::handle heads, py::handle threads) {
  const auto place = path_of(name, "name");
  const BackboneOptions options{.precision = parse_precision(text_of(precision, "precision")),
                                .training = flag_of(training, "training"),
                                .image_size = whole_of(image_size, "image_size"),
                                .heads = whole_of(heads, "heads")};
  auto model = std::make_shared<Model>();
  model->threads = whole_of(threads, "threads");
  model->training = options.training;
  const py::gil_scoped_release free;
  model->backbone = load_backbone(place, options);
  model->preprocessing = load_preprocessing(place, options.image_size);
  return model;
}

py::dict geometry_dict(const Geometry& g) {
  using namespace py::literals;
  return py::dict("width"_a = g.width, "depth"_a = g.depth, "heads"_a = g.heads, "mlp_width"_a = g.mlp_width,
                  "patch_size"_a = g.patch_size, "image_size"_a = g.image_size,
                  "special_tokens"_a = g.special_tokens, "classes"_a = g.classes,
                  "layer_norm_epsilon"_a = g.layer_norm_epsilon,
                  "architecture"_a = std::string(g.architecture));
}

py::dict preprocessing_dict(const Preprocessing& p) {
  using namespace py::literals;
  const char* filters[] = {"nearest", "bilinear", "bicubic"};
  return py::dict("resize"_a = p.resize, "stretch"_a = p.stretch,
                  "filter"_a = filters[static_cast<int>(p.filter)], "crop"_a = p.crop, "mean"_a = p.mean,
                  "std"_a = p.std);
}

py::dict info_dict(const AdapterInfo& info) {
  using namespace py::literals;
  py::list domains;
  for (const auto& domain : info.domains)
    domains.append(py::dict("name"_a = domain.name, "first_class"_a = domain.first_class,
                            "classes"_a = domain.class_names));
  return py::dict(
      "method"_a = info.method, "model"_a = info.model, "round"_a = info.round, "seed"_a = info.seed,
      "backbone"_a = info.backbone, "backbone_fingerprint"_a = info.backbone_fingerprint,
      "precision"_a = std::string(to_string(info.precision)), "geometry"_a = geometry_dict(info.geometry),
      "preprocessing"_a = preprocessing_dict(info.preprocessing), "domains"_a = domains, "head"_a = info.head,
      "prompts"_a = info.prompts, "pool"_a = info.pool, "verified"_a = info.verified);
}

// Views into the adapter, which cannot be written.
py::dict tensor_dict(const py::object& self) {
  py::dict tensors;
  for (const auto& tensor : self.cast<const Adapter&>().tensors()) {
    std::vector<py::ssize_t> shape;
    for (const std::size_t size : tensor.shape) shape.push_back(length(size));
    py::array_t<float> view(shape, tensor.values.data(), self);
    view.attr("flags").attr("writeable") = false;
    tensors[py::str(std::string(tensor.name))] = view;
  }
  return tensors;
}

// One call at a time, whoever makes it.
struct LockedClassifier {
  LockedClassifier(const Adapter& adapter, const ClassifierOptions& options) : classifier(adapter, options) {}
  Classifier classifier;
  std::mutex mutex;
};

py::array_t<float> logits_of_pictures(LockedClassifier& self, py::handle pictures) {
  const Pictures given = pictures_of(pictures, "images");
  std::vector<float> all;
  {
    const py::gil_scoped_release free;
    const std::lock_guard lock(self.mutex);
    for (const auto& view : given.views) {
      const auto one = self.classifier.logits(view);
      all.insert(all.end(), one.begin(), one.end());
    }
  }
  const std::size_t classes = given.views.empty() ? 0 : all.size() / given.views.size();
  return owned(std::move(all), {length(given.views.size()), length(classes)});
}

py::list classify_pictures(LockedClassifier& self, py::handle pictures, py::handle most, py::handle among) {
  const Pictures given = pictures_of(pictures, "images");
  const std::size_t top = whole_of(most, "top");
  const std::string domain = text_of(among, "domain");
  std::vector<std::vector<Guess>> all;
  {
    const py::gil_scoped_release free;
    const std::lock_guard lock(self.mutex);
    for (const auto& view : given.views) all.push_back(self.classifier.classify(view, top, domain));
  }
  py::list result;
  for (const auto& guesses : all) {
    py::list one;
    for (const auto& guess : guesses)
      one.append(py::make_tuple(guess.domain, guess.class_name, guess.class_index, guess.probability));
    result.append(one);
  }
  return result;
}

}  // namespace

void add_engine(py::module_& module) {
  py::class_<Back>(
      module, "Back",
      "From the gradient of features, shaped as they are, to that of the prompts they were computed "
      "under.\n\nMay be called again; keeps what the backward pass needs for as long as it lives.")
      .def("__call__", &Back::operator())
      .def("__repr__", &Back::repr);
  py::class_<Model, std::shared_ptr<Model>>(module, "Model")
      .def(py::init(&load_model))
      .def("features", &features)
      .def("embed", &embed)
      .def("classify", &classify)
      .def("preprocess",
           [](const Model& m, py::handle pictures) { return prepare(m.preprocessing, pictures, m.threads); })
      .def("geometry", [](const Model& m) { return geometry_dict(m.backbone->geometry()); })
      .def("preprocessing", [](const Model& m) { return preprocessing_dict(m.preprocessing); })
      .def("precision", [](const Model& m) { return std::string(to_string(m.backbone->precision())); })
      .def("weight_bytes", [](const Model& m) { return m.backbone->weight_bytes(); });
  py::class_<Adapter>(module, "Adapter")
      .def(py::init([](py::handle file) {
        const auto place = path_of(file, "file");
        const py::gil_scoped_release free;
        return Adapter(place);
      }))
      .def("info", [](const Adapter& a) { return info_dict(a.info()); })
      .def("tensors", &tensor_dict)
      .def("preprocess", [](const Adapter& a, py::handle pictures) {
        return prepare(a.info().preprocessing, pictures, 0);
      });
  py::class_<LockedClassifier>(module, "Classifier")
      .def(
          py::init([](const Adapter& adapter, py::handle backbone, py::handle precision, py::handle threads) {
            const ClassifierOptions options{.backbone = path_of(backbone, "backbone"),
                                            .precision = parse_precision(text_of(precision, "precision")),
                                            .threads = whole_of(threads, "threads")};
            const py::gil_scoped_release free;
            return std::make_unique<LockedClassifier>(adapter, options);
          }))
      .def("logits", &logits_of_pictures)
      .def("classify", &classify_pictures);
  module.def("read_image", [](py::handle file) {
    const auto path = path_of(file, "file");
    Image image;
    {
      const py::gil_scoped_release free;
      image = read_image(path);
    }
    return owned(std::move(image.rgb), {length(image.height), length(image.width), 3});
  });
  module.def("add_backbone_folder", &add_backbone_folder);
}

}  // namespace dfrost::python
