/** Listeners that get the messages of durable changes. */
import type { Database, Topic } from './database.ts';

type Listener = (messages: readonly never[]) => void;

export interface CommitListeners {
  readonly add: Database['onCommit'];
  notify(messages: ReadonlyMap<Topic<unknown>, readonly unknown[]>): void;
}

export function commitListeners(): CommitListeners {
  const listeners = new Map<Topic<never>, Listener[]>();
  const of = (topic: unknown) => listeners.get(topic as Topic<never>) ?? [];
  return {
    add: (topic, listener) => void listeners.set(topic as Topic<never>, [...of(topic), listener as Listener]),
    notify(published) {
      for (const [topic, messages] of published) for (const listener of of(topic)) listener(messages as never[]);
    },
  };
}
