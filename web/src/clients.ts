// What clients are called: by the name that a partition's file gave them, else by their number.
import type { Run } from "./records";

function givenName(about: Run["about"], client: number): string | undefined {
  return about?.clients?.[client]?.name;
}

/** In a sentence. */
export function clientName(about: Run["about"], client: number): string {
  return givenName(about, client) ?? `client ${client}`;
}

/** At the head of a box. */
export function clientTitle(about: Run["about"], client: number): string {
  return (givenName(about, client) ?? `Client ${client}`) + (isHostile(about, client) ? ", hostile" : "");
}

/** Beside an axis or in a list, where it is clear that clients are meant. */
export function shortClientName(about: Run["about"], client: number): string {
  return (givenName(about, client) ?? String(client)) + (isHostile(about, client) ? "✕" : "");
}

/** Whether the experiment made it an attacker. */
export function isHostile(about: Run["about"], client: number): boolean {
  return about?.clients?.[client]?.hostile === true;
}
