/** Listeners that get the messages of durable changes. */
import type { Topic } from './database.ts';

type Listener = (messages: readonly never[]) => void;

export function commitListeners() {
  const listeners = new Map<Topic<never>, Listener[]>();
  const of = (topic: unknown) => listeners.get(topic as Topic<never>) ?? [];
  return {
    add<Message>(topic: Topic<Message>, listener: (messages: readonly Message[]) => void): void {
      listeners.set(topic as Topic<never>, [...of(topic), listener as Listener]);
    },
    notify(published: ReadonlyMap<Topic<unknown>, readonly unknown[]>): void {
      for (const [topic, messages] of published) for (const listener of of(topic)) listener(messages as never[]);
    },
  };
}
