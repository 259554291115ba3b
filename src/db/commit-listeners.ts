/** Listeners that get the messages of durable changes, and those that learn where messages may be missing. */
import type { Topic } from './database.ts';

type Listener = (messages: readonly never[]) => void;

export function commitListeners() {
  const listeners = new Map<Topic<never>, Listener[]>();
  const ofMissed: (() => void)[] = [];
  const of = (topic: unknown) => listeners.get(topic as Topic<never>) ?? [];
  return {
    add<Message>(topic: Topic<Message>, listener: (messages: readonly Message[]) => void): void {
      listeners.set(topic as Topic<never>, [...of(topic), listener as Listener]);
    },
    notify(published: ReadonlyMap<Topic<unknown>, readonly unknown[]>): void {
      for (const [topic, messages] of published) for (const listener of of(topic)) listener(messages as never[]);
    },
    /** Notifies of messages from another instance, whose topic has this name. */
    notifyOfNews(topicName: string, messages: readonly unknown[]): void {
      for (const [{ name, isForAll }, those] of listeners)
        if (isForAll && name === topicName) for (const listener of those) listener(messages as never[]);
    },
    addMissed: (listener: () => void): void => void ofMissed.push(listener),
    notifyOfMissed(): void {
      for (const listener of ofMissed) listener();
    },
  };
}
