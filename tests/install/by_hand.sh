#!/usr/bin/env bash
# Installs the Debian packages of a build on a fresh Debian 12 that has nothing of what dfrost is built with, uses them, and
# removes them. Needs root and the network; some minutes.
#   tests/install/by_hand.sh BUILD FRESH_MACHINE     e.g.  tests/install/by_hand.sh build/release ../shared/tools/fresh-machine
# FRESH_MACHINE is a program that runs a command in a clean clone of a repository on such a machine: FRESH_MACHINE REPOSITORY COMMAND…
set -euo pipefail
if [ "${1:-}" = --inside ]; then
  export DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends ./dfrost_*.deb >/dev/null
  dfrost --version
  python3 --version 2>/dev/null && { echo "the command brought Python along"; exit 1; }
  dfrost config init mine --out mine.toml
  dfrost run mine.toml --set run.rounds=2 --quiet
  dfrost predict --adapter runs/mine pictures/cat/0.png
  dfrost export runs/mine --onnx model.onnx
  # shellcheck disable=SC1091
  (. /usr/share/bash-completion/completions/dfrost; COMP_WORDS=(dfrost bench st) COMP_CWORD=2; _dfrost; echo "bash completes: ${COMPREPLY[*]}")
  test -s /usr/lib/systemd/system/dfrost-peer@.service -a -s /usr/share/man/man1/dfrost.1.gz

  apt-get install -y -qq --no-install-recommends ./python3-dfrost_*.deb >/dev/null
  python3 -c 'import dfrost; print(dfrost.load_run("runs/mine").summary, dfrost.Backbone("frost-mini"))'

  apt-get install -y -qq --no-install-recommends ./libdfrost-dev_*.deb cmake g++ make >/dev/null
  cmake -S examples -B built >/dev/null
  cmake --build built -j "$(nproc)" >/dev/null
  built/ot
  built/run mine.toml | tail -1

  dpkg --purge python3-dfrost libdfrost-dev dfrost >/dev/null
  if find /usr -ipath '*dfrost*' | grep .; then echo "left behind"; exit 1; fi
  echo "installed, used and removed"
  exit
fi
[ $# -eq 2 ] || { sed -n '2,5p' "$0"; exit 2; }
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && cpack --config "$build/CPackConfig.cmake" -B "$folder/packed" >/dev/null && mkdir debs && mv packed/*.deb debs && rm -rf packed)
(cd "$folder/debs" && cp -r "$source/examples" . && cp "$source/tests/install/by_hand.sh" . && /usr/bin/python3 -B "$source/tests/support/small_world.py" pictures cat dog)
git -C "$folder/debs" init -q
git -C "$folder/debs" add .
git -C "$folder/debs" -c user.name=test -c user.email=test@localhost commit -qm "The packages and what uses them"
"$2" --no-shared "$folder/debs" ./by_hand.sh --inside
