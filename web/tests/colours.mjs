// How far apart two colours look, to those who see all of them and to those who lack one kind of cone.

/** Linear light of "#rrggbb". @param {string} hex */
function linear(hex) {
  return [1, 3, 5].map((at) => {
    const level = parseInt(hex.slice(at, at + 2), 16) / 255;
    return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4;
  });
}

/** @param {number[][]} matrix @param {number[]} vector */
const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, m, k) => sum + m * /** @type {number} */ (vector[k]), 0));

/** CIE L*a*b* under D65. @param {number[]} rgb */
function lab(rgb) {
  const xyz = times([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], rgb.map((v) => Math.min(Math.max(v, 0), 1)));
  const [x, y, z] = /** @type {[number, number, number]} */ (xyz.map((v, k) => {
    const t = v / /** @type {number} */ ([0.9505, 1, 1.089][k]);
    return t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116;
  }));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

// Machado, Oliveira and Fernandes (2009), full deficiency, on linear light.
const CONES = {
  "without red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  "without green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  "without blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** @type {Record<string, (hex: string) => number[]>} */
export const SIGHTS = {
  "all cones": (hex) => lab(linear(hex)),
  ...Object.fromEntries(Object.entries(CONES).map(([name, cones]) => [name, (/** @type {string} */ hex) => lab(times(cones, linear(hex)))])),
};

/** WCAG's contrast of two colours, as the browser computes them ("rgb(1, 2, 3)"). @param {string} a @param {string} b */
export function contrast(a, b) {
  const luminance = (/** @type {string} */ rgb) => {
    const hex = `#${(rgb.match(/\d+/g) ?? []).slice(0, 3).map((v) => Number(v).toString(16).padStart(2, "0")).join("")}`;
    return times([[0.2126, 0.7152, 0.0722]], linear(hex))[0] ?? 0;
  };
  const [dark, light] = /** @type {[number, number]} */ ([luminance(a), luminance(b)].sort((x, y) => x - y));
  return (light + 0.05) / (dark + 0.05);
}

/** CIE76: some 2 are just seen, 10 at a glance. @param {number[]} a @param {number[]} b */
export const distance = (a, b) => Math.hypot(...a.map((v, k) => v - /** @type {number} */ (b[k])));
