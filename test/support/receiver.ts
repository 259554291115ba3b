/**
 * A webhook receiver for tests, on a free port of loopback. The `stripe` package, a verifier we did not write, judges the
 * signature of every delivery; one that it refuses is answered 401 and makes `close` throw.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';

const TOLERANCE_SECONDS = 300;

export interface ReceivedDelivery {
  readonly eventId: string;
  readonly signature: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly createdAt: string;
    readonly applicationId: string;
    // biome-ignore lint: payloads are checked by the test that caused them.
    readonly data: any;
  };
  /** When it came, by the real clock. */
  readonly arrivedAt: number;
}

export interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** `drop` cuts the connection instead. */
export type Answering = (delivery: ReceivedDelivery) => ReceiverAnswer | 'drop' | Promise<ReceiverAnswer | 'drop'>;

export interface Receiver {
  readonly url: string;
  /** Everything that came with a good signature, in order. */
  readonly received: readonly ReceivedDelivery[];
  /** The most that were under way at one time. */
  readonly mostAtOnce: number;
  /** The secret that deliveries must be signed with from now on. */
  trust(secret: string): void;
  answerWith(answering: Answering): void;
  /** @throws when a delivery came whose signature was refused. */
  close(): Promise<void>;
}

/** @param now the clock that the sender signs by. */
export async function startReceiver(now: () => number = Date.now): Promise<Receiver> {
  const received: ReceivedDelivery[] = [];
  const refused: string[] = [];
  let secret: string | null = null;
  let answering: Answering = () => ({ status: 200 });
  let atOnce = 0;
  let mostAtOnce = 0;

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivedAt = Date.now();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : `${value}`,
      ]),
    );
    const problem = await signatureProblem(body, headers['svc-signature'] ?? '', secret ?? '', now());
    if (problem !== null) {
      refused.push(problem);
      response.writeHead(401).end();
      return;
    }
    const eventId = headers['svc-event-id'] ?? '';
    const delivery = {
      eventId,
      signature: headers['svc-signature']!,
      headers,
      body,
      event: JSON.parse(body) as ReceivedDelivery['event'],
      arrivedAt,
    };
    if (delivery.event.id !== eventId) refused.push(`the body is of ${delivery.event.id}, the header of ${eventId}`);
    received.push(delivery);
    const answer = await answering(delivery);
    if (answer === 'drop') request.socket.destroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  const server = createServer((request, response) => {
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    take(request, response)
      // A sender that is killed in the middle of its request is part of the tests.
      .catch(() => {})
      .finally(() => (atOnce -= 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    get mostAtOnce() {
      return mostAtOnce;
    },
    trust: (text) => void (secret = text),
    answerWith: (next) => void (answering = next),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (refused.length > 0) throw new Error(`${refused.length} deliveries were refused: ${refused[0]}`);
    },
  };
}

/** What the `stripe` package has against a delivery; null when it accepts it. */
export async function signatureProblem(
  body: string,
  signature: string,
  secret: string,
  receivedAt: number,
): Promise<string | null> {
  try {
    await Stripe.webhooks.constructEventAsync(body, signature, secret, TOLERANCE_SECONDS, undefined, receivedAt);
    return null;
  } catch (error) {
    return (error as Error).message.split('\n')[0]!;
  }
}
