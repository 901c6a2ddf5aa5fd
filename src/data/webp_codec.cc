// libwebp: the canvas is black, and the first frame, often all there is, lies on it.

#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

#include "data/image_codec.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// What the decoder takes for a pixel: the lossless one keeps the whole picture at 4 bytes, and a turned one
// is copied at 3.
constexpr std::size_t kDecoderBytesPerPixel = 4;

using Demuxer = std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)>;

class FirstFrame {
 public:
  explicit FirstFrame(const WebPDemuxer& file) {
    if (WebPDemuxGetFrame(&file, 1, &frame_) == 0)
      throw Error(ErrorCode::data_loss, "a file without a frame");
  }
  ~FirstFrame() { WebPDemuxReleaseIterator(&frame_); }
  FirstFrame(const FirstFrame&) = delete;
  FirstFrame& operator=(const FirstFrame&) = delete;
  const WebPIterator& operator*() const { return frame_; }
  const WebPIterator* operator->() const { return &frame_; }

 private:
  WebPIterator frame_{};
};

int webp_orientation(const WebPDemuxer& file) {
  WebPChunkIterator chunk{};
  int found = kUpright;
  if (WebPDemuxGetChunk(&file, "EXIF", 1, &chunk) != 0)
    found = exif_orientation(std::as_bytes(std::span(chunk.chunk.bytes, chunk.chunk.size)));
  WebPDemuxReleaseChunkIterator(&chunk);
  return found;
}

void decode_onto(Image& canvas, const WebPIterator& frame) {
  const auto left = static_cast<std::size_t>(frame.x_offset), top = static_cast<std::size_t>(frame.y_offset);
  const auto width = static_cast<std::size_t>(frame.width), height = static_cast<std::size_t>(frame.height);
  if (left + width > canvas.width || top + height > canvas.height)
    throw Error(ErrorCode::data_loss, "a frame that does not fit its picture");
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) throw Error(ErrorCode::internal, "another version of libwebp");
  const std::size_t first = 3 * (top * canvas.width + left);
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = canvas.rgb.data() + first;
  config.output.u.RGBA.stride = static_cast<int>(3 * canvas.width);
  config.output.u.RGBA.size = canvas.rgb.size() - first;
  const auto status = WebPDecode(frame.fragment.bytes, frame.fragment.size, &config);
  WebPFreeDecBuffer(&config.output);
  if (status == VP8_STATUS_OK) return;
  if (status == VP8_STATUS_OUT_OF_MEMORY) throw Error(ErrorCode::resource_exhausted, "out of memory");
  throw Error(ErrorCode::data_loss, "corrupt WebP data");
}

}  // namespace

Image decode_webp(std::span<const std::byte> bytes, ExifOrientation exif) {
  const WebPData data{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
  const Demuxer file(WebPDemux(&data), WebPDemuxDelete);
  if (file == nullptr) throw Error(ErrorCode::data_loss, "the file is cut short or no WebP file");
  const std::size_t width = WebPDemuxGetI(file.get(), WEBP_FF_CANVAS_WIDTH);
  const std::size_t height = WebPDemuxGetI(file.get(), WEBP_FF_CANVAS_HEIGHT);
  const FirstFrame frame(*file);
  // A plain colour takes no bits at all, so the length of the file bounds nothing.
  Image image = allocate_image({.width = width,
                                .height = height,
                                .file_bytes = bytes.size(),
                                .max_pixels_per_byte = 0,
                                .decoder_bytes = kDecoderBytesPerPixel * width * height});
  decode_onto(image, *frame);
  return turned_upright(std::move(image),
                        exif == ExifOrientation::apply ? webp_orientation(*file) : kUpright);
}

}  // namespace dfrost
