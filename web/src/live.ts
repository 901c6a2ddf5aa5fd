// The live page's ear: server-sent events from the address the page came from. EventSource reconnects by itself, and
// the server begins every connection with the whole document, so nothing is ever missed.
import type { LiveEvent } from "./records";

export interface LiveCallbacks {
  onEvent(event: LiveEvent): void;
  onConnection(isWell: boolean): void;
}

const RETRY_MILLISECONDS = 2000;

export function listen(address: string, callbacks: LiveCallbacks): void {
  const source = new EventSource(address);
  source.onopen = () => callbacks.onConnection(true);
  source.onmessage = (message) => {
    callbacks.onConnection(true);
    callbacks.onEvent(JSON.parse(message.data as string) as LiveEvent);
  };
  source.onerror = () => {
    callbacks.onConnection(false);
    // A server that answers with an error makes the browser give up for good; we do not.
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => listen(address, callbacks), RETRY_MILLISECONDS);
  };
}
