/** Connection for `NOTIFY` and `LISTEN`, to the primary. It is made anew wherever it is lost. */
import type { SQL } from 'bun';
import { clientOptions, type ConnectOptions, requirePrimary, SERVER_SETTINGS } from './clients.ts';

const CHANNEL = 'gatehouse';
const SEND = `SELECT pg_notify('${CHANNEL}', payload) FROM unnest($1::text[]) AS payload`;

/** An idle connection is what listens. */
const LINK_SETTINGS = { ...SERVER_SETTINGS, idle_session_timeout: 0 };

/** Wait before a lost connection is made anew. */
const RETRY_MS = 250;

/** Wait for the echo of a notification, how many may go unanswered, and the pause after one that came. */
const ECHO_MS = 2000;
const ECHOES = 3;
const HEALTHY_MS = 30_000;

/** Pause where no echo has ever come. */
const SILENCE_MS = 5 * 60_000;

/** A notification that takes longer has lost its connection. */
const SEND_MS = 5000;

export interface NewsLinkOptions extends Pick<ConnectOptions, 'urls' | 'tls' | 'isBouncer'> {
  /** A notification that comes back to this process where notifications arrive. */
  readonly echo: string;
  readonly onPayload: (payload: string) => void;
  /** Listens again after a loss. */
  readonly onAgain: () => void;
  /** Called once where no notification arrives, as behind PgBouncer in transaction mode. */
  readonly onSilence: () => void;
}

export interface NewsLink {
  /** Sends what can be sent now, and loses the rest. Never throws. */
  send(payloads: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Connects in the background. */
export function newsLink(options: NewsLinkOptions): NewsLink {
  const { urls, echo, onPayload, onAgain, onSilence } = options;
  let current: { readonly sql: SQL; readonly lose: () => void } | null = null;
  let waiting: Timer | undefined;
  let onEcho = () => {};
  let hasListened = false;
  let isSilent = false;
  let isClosed = false;

  async function follow(): Promise<void> {
    while (!isClosed) {
      for (const url of urls) await follower(url);
      await Bun.sleep(RETRY_MS);
    }
  }

  /** Listens at one server until it is lost; returns at once where it is no primary, or away. */
  async function follower(url: string): Promise<void> {
    const lost = Promise.withResolvers<void>();
    const sql = new Bun.SQL({ ...clientOptions(options, url, 1, LINK_SETTINGS), onclose: () => lost.resolve() });
    try {
      await requirePrimary(sql);
      if (isClosed) return;
      current = { sql, lose: lost.resolve };
      await listen(current);
      await lost.promise;
    } catch {
      // The next server, or the same one later.
    } finally {
      current = null;
      clearTimeout(waiting);
      void sql.close({ timeout: 0 }).catch(() => {});
    }
  }

  async function listen(to: NonNullable<typeof current>): Promise<void> {
    const subscription = await to.sql.listen(CHANNEL, (payload) => {
      if (payload === echo) onEcho();
      else if (!isClosed) onPayload(payload);
    });
    if (hasListened) onAgain();
    hasListened = true;
    let hasHeard = false;

    /** Echoes again later, since a connection that was cut off looks like a quiet one. */
    function awaitEcho(left: number): void {
      if (left === 0) return hasHeard ? to.lose() : fallSilent();
      onEcho = () => {
        hasHeard = true;
        later(HEALTHY_MS, () => awaitEcho(ECHOES));
      };
      // Set before the echo is sent, which may arrive first.
      later(ECHO_MS, () => awaitEcho(left - 1));
      void send([echo]);
    }

    /** PgBouncer drops a server connection that notifies without a client. */
    function fallSilent(): void {
      if (!isSilent) onSilence();
      isSilent = true;
      hasListened = false;
      void subscription.unlisten().catch(() => {});
      later(SILENCE_MS, () => void listen(to).catch(to.lose));
    }

    function later(ms: number, work: () => void): void {
      clearTimeout(waiting);
      if (!isClosed && current === to) waiting = setTimeout(work, ms);
    }
    awaitEcho(ECHOES);
  }

  async function send(payloads: readonly string[]): Promise<void> {
    if (current === null) return;
    const { sql, lose } = current;
    const overdue = setTimeout(lose, SEND_MS);
    await sql.unsafe(SEND, [sql.array([...payloads], 'TEXT')]).catch(() => {});
    clearTimeout(overdue);
  }

  void follow();
  return {
    send,
    async close() {
      isClosed = true;
      clearTimeout(waiting);
      await current?.sql.close({ timeout: 0 }).catch(() => {});
      current?.lose();
    },
  };
}
