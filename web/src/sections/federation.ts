// A federation as one of its sites sees it: who is alive, in which round, and how late. Only a site's run has it.
import { shownRun, type App, type Section } from "../app";
import { html, svg } from "../dom";
import { bytes, count, isNumber, NOTHING, seconds } from "../format";
import type { Peer, PeerMember } from "../records";
import { figure, part } from "./section";

const WIDTH = 640;
const HEIGHT = 400;
const LONGEST_NAME = 18;

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
}

function nameOf(member: PeerMember): string {
  return member.name ?? `member ${member.number}`;
}

/** How far a member is from this site: "2 rounds behind". */
function distance(peer: Peer, member: PeerMember): string {
  if (!isNumber(member.round) || !isNumber(peer.round) || member.round === 0) return "";
  const rounds = member.round - peer.round;
  if (rounds === 0) return "same round";
  return `${Math.abs(rounds)} round${Math.abs(rounds) === 1 ? "" : "s"} ${rounds < 0 ? "behind" : "ahead"}`;
}

function stateOf(peer: Peer, member: PeerMember): string {
  if (peer.ended) return "not known any more";
  if (member.stage === "done") return "done";
  if (!member.linked) return "away";
  return member.alive ? (member.stage ?? "alive") : "silent";
}

/** Its mark and link: words and shapes say the same as colours. */
function kindOf(peer: Peer, member: PeerMember): string {
  if (peer.ended || member.stage === "done") return "done";
  if (!member.alive) return "away";
  return member.awaited ? "awaited" : "alive";
}

function picture(peer: Peer): SVGElement {
  const members = peer.members ?? [];
  const centre: [number, number] = [WIDTH / 2, HEIGHT / 2];
  const places = members.map((_, i) => {
    const angle = (2 * Math.PI * i) / Math.max(members.length, 1) - Math.PI / 2;
    return [centre[0] + 215 * Math.cos(angle), centre[1] + 138 * Math.sin(angle)] as const;
  });
  const links = members.map((member, i) => svg("line", {
    class: `site-link ${kindOf(peer, member)}${member.neighbour ? " neighbour" : ""}`,
    x1: centre[0], y1: centre[1], x2: places[i]![0].toFixed(1), y2: places[i]![1].toFixed(1),
  }));
  const isCrowded = members.length > 14;
  const nodes = members.map((member, i) => {
    const [x, y] = places[i]!;
    const isBelow = y > centre[1] + 10;
    const words = isNumber(member.round) && member.round > 0 ? `round ${member.round}, ${stateOf(peer, member)}` : stateOf(peer, member);
    return svg("g", { class: `site ${kindOf(peer, member)}` },
      svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: isCrowded ? 8 : 13 }),
      svg("text", { class: "site-name", x: x.toFixed(1), y: (isBelow ? y + 29 : y - 34).toFixed(1), "text-anchor": "middle" }, shortened(nameOf(member))),
      isCrowded ? null : svg("text", { class: "site-note", x: x.toFixed(1), y: (isBelow ? y + 45 : y - 19).toFixed(1), "text-anchor": "middle" }, words));
  });
  const self = svg("g", { class: "site self" },
    svg("circle", { cx: centre[0], cy: centre[1], r: 21 }),
    svg("text", { class: "site-round", x: centre[0], y: centre[1], "text-anchor": "middle", "dominant-baseline": "central" }, String(peer.round ?? "")),
    svg("text", { class: "site-name", x: centre[0], y: centre[1] + 39, "text-anchor": "middle" }, shortened(peer.name ?? "this site")));
  // No more room than the places take.
  const heights = [centre[1], ...places.map(([, y]) => y)];
  const top = Math.min(...heights) - 58;
  const bottom = Math.max(...heights) + 62;
  const alive = members.filter((member) => member.alive).length;
  return svg("svg", {
    class: "sites", viewBox: `0 ${top.toFixed(1)} ${WIDTH} ${(bottom - top).toFixed(1)}`, role: "img",
    "aria-label": `${peer.name ?? "This site"} in round ${peer.round ?? 0}; ${alive} of ${members.length} other members alive. The table says more.`,
  }, ...links, ...nodes, self);
}

function table(peer: Peer): HTMLElement {
  const head = ["member", "state", "round", "", "its letters come", "round trip", "received", "missed"];
  const row = (member: PeerMember) => html("tr", {},
    html("th", { scope: "row" }, nameOf(member)),
    html("td", {}, stateOf(peer, member) + (member.awaited && !peer.ended ? ", waited for" : "")),
    html("td", {}, isNumber(member.round) && member.round > 0 ? count(member.round) : NOTHING),
    html("td", {}, peer.ended ? "" : distance(peer, member)),
    html("td", {}, isNumber(member.usual_seconds) && member.usual_seconds > 0 ? `${seconds(member.usual_seconds)} after ours` : NOTHING),
    html("td", {}, isNumber(member.round_trip_seconds) && member.round_trip_seconds > 0 ? `${(1000 * member.round_trip_seconds).toFixed(1)} ms` : NOTHING),
    html("td", {}, bytes(member.received_bytes)),
    html("td", {}, count(member.missing_messages)));
  return html("div", { class: "scroll" }, html("table", { class: "figures" },
    html("thead", {}, html("tr", {}, ...head.map((name) => html("th", { scope: "col" }, name)))),
    html("tbody", {}, ...(peer.members ?? []).map(row))));
}

function sentence(peer: Peer): string {
  const where = `${peer.name ?? "This site"} of ${peer.federation ?? "its federation"}: round ${peer.round ?? 0} of ${peer.rounds ?? 0}`;
  if (peer.ended === "done") return `${where}, all done.`;
  if (peer.ended) return `${where}, ${peer.ended}; this is what it knew last.`;
  return peer.waiting_for ? `${where}, waiting for ${peer.waiting_for}.` : `${where}, ${peer.stage ?? "running"}.`;
}

export function federation(app: App): Section {
  const words = html("p", { class: "explanation" });
  const place = html("div", { class: "sites-place" });
  const rows = html("div", {});
  const element = part("federation", "The federation, seen from here", "", words,
    figure("Who is there", "Thick lines lead to the neighbours of this round; dashed ones to members that are away; rings are waited for.", place), rows);
  const update = () => {
    const peer = shownRun(app)?.peer;
    element.hidden = !peer;
    if (!peer) return;
    words.textContent = sentence(peer);
    place.replaceChildren(picture(peer));
    rows.replaceChildren(table(peer));
  };
  return { element, update };
}
