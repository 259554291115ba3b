/** Two applications, a person who is a member of both, and calls to upload pictures. */
import { MINUTE } from '@/core/clock.ts';
import type { Application } from '@/store/applications.ts';
import { createInstance, type Instance } from '../../support/instance.ts';

export type Kind = 'avatar' | 'banner';

// biome-ignore lint: answers are checked by the test that asked for them.
export type Answered = { status: number; headers: Headers; json: any };

/** The body of an upload. Bytes are copied before they are sent. */
export type Body = Uint8Array | FormData | ReadableStream<Uint8Array> | null;

export interface Sent {
  readonly type?: string | null;
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

export interface World {
  readonly instance: Instance;
  readonly application: Application;
  readonly other: Application;
  readonly token: string;
  readonly userId: string;
  put(kind: Kind, body: Body, sent?: Sent): Promise<Answered>;
  remove(kind: Kind): Promise<Answered>;
  get(path: string, init?: RequestInit): Promise<Response>;
  /** Reads the stored variants, smallest first. */
  stored(kind: Kind): { size: number; bytes: Buffer; updatedAt: number }[];
  verify(): Promise<Record<string, unknown>>;
}

export async function createWorld(environment: Record<string, string> = {}): Promise<World> {
  const instance = await createInstance({ environment });
  const application = await instance.createApplication({ name: 'Shop', slug: 'shop' });
  const other = await instance.createApplication({ name: 'Other', slug: 'other' });
  await instance.signIn(other.clientId, 'ada@example.com');
  const { token, userId } = await instance.signIn(application.clientId, 'ada@example.com');
  instance.clock.advance(MINUTE);

  async function send(request: Request): Promise<Answered> {
    const response = await instance.app.fetch(request);
    return { status: response.status, headers: response.headers, json: await response.json() };
  }

  const address = (kind: Kind) => `http://localhost/api/account/self/images/${kind}`;

  return {
    instance,
    application,
    other,
    token,
    userId,
    put(kind, body, { type = 'image/png', token: other = token, headers = {} } = {}) {
      // For a form, fetch writes the type with its boundary.
      const isForm = body instanceof FormData;
      const init: RequestInit & { duplex: 'half' } = {
        method: 'PUT',
        body: body instanceof Uint8Array ? new Uint8Array(body) : body,
        duplex: 'half',
      };
      const request = new Request(address(kind), {
        ...init,
        headers: {
          authorization: `Bearer ${other}`,
          ...(type !== null && !isForm && { 'content-type': type }),
          ...headers,
        },
      });
      return send(request);
    },
    remove: (kind) =>
      send(new Request(address(kind), { method: 'DELETE', headers: { authorization: `Bearer ${token}` } })),
    get: async (path, init) => instance.app.fetch(new Request(new URL(path, 'http://localhost'), init)),
    stored: (kind) =>
      (
        instance.sqlite
          .query(
            'SELECT size, bytes, updated_at AS updatedAt FROM user_images WHERE user_id = ? AND kind = ? ORDER BY size',
          )
          .all(userId, kind) as { size: number; bytes: Uint8Array; updatedAt: number }[]
      ).map((row) => ({ ...row, bytes: Buffer.from(row.bytes) })),
    verify: async () => (await instance.call('POST', '/api/v1/session', { token })).json,
  };
}
