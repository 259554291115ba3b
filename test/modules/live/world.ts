/** A person signed in to an application, with a stream of their session. */
import { expect } from 'bun:test';
import type { Application } from '@/store/applications.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { listen, type Listening } from './listen.ts';

interface Person {
  readonly token: string;
  readonly userId: string;
}

export interface World {
  readonly instance: Instance;
  readonly application: Application;
  readonly ada: Person;
  /** Makes a management call below the application. */
  manage(method: string, path: string, body?: unknown): ReturnType<Instance['call']>;
}

export async function createWorld(): Promise<World> {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const ada = await instance.signIn(application.clientId, 'ada@example.com');
  return {
    instance,
    application,
    ada,
    async manage(method, path, body) {
      const answer = await instance.call(method, `/api/applications/${application.id}${path}`, {
        token: instance.workspaceKey,
        body,
      });
      if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
      return answer;
    },
  };
}

/** Opens a stream and reads its snapshot. */
export async function listening(instance: Instance, { token }: Person): Promise<Listening> {
  const stream = await listen(instance, token);
  const [snapshot] = await stream.told();
  expect(snapshot?.event).toBe('session');
  return stream;
}

export const envelopeOf = async ({ instance }: World, { token }: Person) => {
  const { ok, ...envelope } = (await instance.call('POST', '/api/v1/session', { token })).json;
  expect(ok).toBe(true);
  return envelope;
};
