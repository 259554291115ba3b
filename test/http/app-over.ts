/** A second app over the services of an instance, with the real log and options that a test overrides. */
import { type App, createApp } from '@/app.ts';
import { instanceKey } from '@/core/instance-key.ts';
import { systemRandom } from '@/core/random.ts';
import type { Dependencies } from '@/dependencies.ts';
import { accessLog } from '@/http/access-log.ts';
import { createLog } from '@/log.ts';
import type { Instance } from '../support/instance.ts';

export interface AppOver {
  readonly app: App;
  /** The parsed lines of the real log. */
  readonly log: Record<string, unknown>[];
}

export function appOver(instance: Instance, options: Partial<Pick<Dependencies, 'peerAddress'>> = {}): AppOver {
  const log: Record<string, unknown>[] = [];
  const { config, db, clock, services } = instance;
  const dependencies = {
    config,
    db,
    clock,
    random: systemRandom,
    instanceKey: instanceKey(systemRandom.bytes(32)),
    leaseHolder: 'instance',
    mail: { onCapture: null },
    outbound: async () => {
      throw new Error('no test of this file reaches out');
    },
    log: createLog('debug', { write: (line: string) => void log.push(JSON.parse(line)) }),
    accessLog: accessLog((line) => void log.push(JSON.parse(line))),
    baseUrl: () => config.baseUrl ?? 'http://localhost:8080',
    peerAddress: () => instance.peer,
    keepOpen: () => {},
    isStopping: () => false,
    testClock: null,
    ...options,
  };
  const app = createApp(dependencies, services);
  return { app, log };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Makes a call without parsing the body: a HEAD response declares JSON and has none. */
export async function rawCall({ app }: Instance, method: string, path: string, headers: Record<string, string> = {}) {
  const response = await app.fetch(new Request(`http://localhost${path}`, { method, headers }));
  return { status: response.status, headers: response.headers, text: await response.text() } satisfies RawAnswer;
}
