/**
 * News between instances: messages of topics for all, by `NOTIFY` in a transaction of its own. A hint: `NOTIFY` reaches
 * connected listeners only, and PgBouncer in transaction mode hands none on. Listeners find the rest by polling.
 */
import type { Topic } from '../database.ts';
import { newsLink, type NewsLinkOptions } from './news-link.ts';
import { payloadsOf, readPayload } from './news-payload.ts';

/** Time in which messages are collected: each notification takes a lock of the whole server at its commit. */
const COALESCE_MS = 50;

/** Messages of one topic in that time; more are sent as "anything may have changed". */
const MAX_MESSAGES = 1000;

export interface NewsOptions extends Pick<NewsLinkOptions, 'urls' | 'tls' | 'isBouncer' | 'onSilence'> {
  /** Differs between processes; an instance skips its own messages. */
  readonly instanceId: string;
  /** Gets what another instance has committed. Must not throw. */
  readonly onMessages: (topicName: string, messages: readonly unknown[]) => void;
  /** News may have been missed: the connection was lost, or a topic had too many messages to send. */
  readonly onMissed: () => void;
}

export interface News {
  /** Sends messages of topics for all shortly afterwards, and ignores others. Never throws, and never fails a change. */
  publish(published: ReadonlyMap<Topic<unknown>, readonly unknown[]>): void;
  /** Sends what is collected, and stops listening. */
  close(): Promise<void>;
}

/** Connects in the background, with two connections of its own. */
export function openNews({ instanceId, onMessages, onMissed, ...options }: NewsOptions): News {
  let collected = new Map<string, unknown[] | null>();
  let sending: Promise<void> | undefined;
  let isClosed = false;
  const link = newsLink({ ...options, echo: `["${instanceId}",[]]`, onPayload: received, onAgain: onMissed });

  function received(payload: string): void {
    const news = readPayload(payload);
    if (news === null || news.instanceId === instanceId) return;
    for (const [name, messages] of news.items) {
      if (messages === null) onMissed();
      else onMessages(name, messages);
    }
  }

  function sendSoon(): void {
    if (collected.size === 0) return;
    sending ??= Bun.sleep(COALESCE_MS)
      .then(sendCollected)
      .finally(() => {
        sending = undefined;
        sendSoon();
      });
  }

  /** Sends one batch. Where the database is away it is lost: its changes are found by polling. */
  async function sendCollected(): Promise<void> {
    const items = [...collected];
    collected = new Map();
    if (items.length > 0) await link.send(payloadsOf(instanceId, items));
  }

  return {
    publish(published) {
      if (isClosed) return;
      for (const [{ name, isForAll }, messages] of published) {
        const earlier = collected.get(name) ?? [];
        if (!isForAll || collected.get(name) === null) continue;
        const all = [...earlier, ...messages];
        collected.set(name, all.length > MAX_MESSAGES ? null : all);
      }
      sendSoon();
    },
    async close() {
      isClosed = true;
      while (sending) await sending;
      await link.close();
    },
  };
}
