/**
 * A webhook receiver on a free port of loopback. The `stripe` package, a verifier we did not write, checks each
 * delivery's signature: a wrong one is answered 401 and makes `close` throw.
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
    // biome-ignore lint: each test checks the payload it caused.
    readonly data: any;
  };
  /** Arrival time by the real clock. */
  readonly arrivedAt: number;
}

export interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** `drop` closes the connection without an answer. */
export type Answering = (delivery: ReceivedDelivery) => ReceiverAnswer | 'drop' | Promise<ReceiverAnswer | 'drop'>;

export interface Receiver {
  readonly url: string;
  /** Deliveries with a valid signature, in order. */
  readonly received: readonly ReceivedDelivery[];
  /** Highest number of deliveries in progress at one time. */
  readonly mostAtOnce: number;
  /** Sets the secret that deliveries must be signed with from now on. */
  trust(secret: string): void;
  answerWith(answering: Answering): void;
  /** @throws if a delivery had a wrong signature. */
  close(): Promise<void>;
}

/** @param now the sender's clock, for the timestamp of a signature. */
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
      // Tests kill senders in the middle of a request.
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

/** Returns why the `stripe` package refuses a delivery; null if it accepts it. */
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
