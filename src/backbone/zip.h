// The entries of a zip archive whose files are stored, not compressed: where each lies in the archive's
// bytes. Zip64 is understood; compression and encryption are refused. Checksums are not verified, since that
// would read every byte of a file that is mapped in order not to.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace dfrost {

using ZipEntries = std::map<std::string, std::span<const std::byte>, std::less<>>;

// Views into `archive`. Throws Error (data_loss, unimplemented) that names the entry.
ZipEntries stored_zip_entries(std::span<const std::byte> archive);

}  // namespace dfrost
