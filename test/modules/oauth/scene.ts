/** An application with its client secret, and calls as its OAuth client. */
import { createInstance, type Answer, type Instance, type InstanceOptions } from '../../support/instance.ts';
import { sceneOf as devicesOf } from '../devices/scene.ts';
import type { Application } from '@/store/applications.ts';

export const INTROSPECTION = '/api/v1/introspect';
export const REVOCATION = '/api/v1/revoke';

export interface Shown {
  readonly clientId: string;
  readonly secret: string;
}

/** Encodes as OAuth libraries do (RFC 6749 §2.3.1). */
export const basic = ({ clientId, secret }: Shown) => ({
  authorization: `Basic ${btoa(`${encodeURIComponent(clientId).replaceAll('_', '%5F')}:${encodeURIComponent(secret)}`)}`,
});

export function sendForm(
  instance: Instance,
  path: string,
  fields: Record<string, string> | [string, string][],
  headers: Record<string, string> = {},
): Promise<Answer> {
  return instance.call('POST', path, {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
}

export async function newSecret(instance: Instance, { id }: Pick<Application, 'id'>, key = instance.workspaceKey) {
  const { json } = await instance.call('POST', `/api/applications/${id}/rotate-secret`, { token: key });
  return json.data.clientSecret as string;
}

export async function createScene(options: InstanceOptions = {}) {
  const instance = await createInstance(options);
  const application = await instance.createApplication();
  const { clientId } = application;
  const shown: Shown = { clientId, secret: await newSecret(instance, application) };
  const ada = await instance.signIn(clientId, 'ada@example.com');
  const introspect = (token: string, as: Shown = shown) =>
    sendForm(instance, INTROSPECTION, { token, token_type_hint: 'access_token' }, basic(as));
  const revoke = (token: string, as: Shown = shown) => sendForm(instance, REVOCATION, { token }, basic(as));
  return { instance, application, clientId, shown, ada, introspect, revoke, devices: devicesOf(instance, application) };
}
