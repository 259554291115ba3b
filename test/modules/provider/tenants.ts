/** Tenants whose applications have their own clients at an identity provider. */
import { expect } from 'bun:test';
import type { Application } from '@/store/applications.ts';
import * as given from '../../support/given.ts';
import type { Answer, Instance } from '../../support/instance.ts';
import { RETURN_TO, type Scene, sceneOf } from './scene.ts';

/** Settings of an instance without its own provider. */
export const NO_INSTANCE_CLIENT = {
  GATEHOUSE_GOOGLE_ISSUER: '',
  GATEHOUSE_GOOGLE_CLIENT_ID: '',
  GATEHOUSE_GOOGLE_CLIENT_SECRET: '',
};

export function putClient(instance: Instance, applicationId: string, token: string, body: Record<string, unknown>) {
  return instance.call('PUT', `/api/applications/${applicationId}/identity-provider`, {
    token,
    body: { clientSecret: 'secret', ...body },
  });
}

/** Gives an application its own client at the same provider, which can claim anything about any person. */
export async function withClient(
  scene: Scene,
  clientId: string,
  application: Application,
  token: string,
): Promise<Scene> {
  const { instance, provider } = scene;
  const set = await putClient(instance, application.id, token, { issuer: provider.issuer, clientId });
  expect(set.status).toBe(200);
  const own = sceneOf(instance, application, provider);
  return { ...own, signIn: (claims = {}) => own.signIn({ aud: clientId, ...claims }) };
}

/** Adds a tenant with its own client at the same issuer. */
export async function addTenant(scene: Scene, name = 'Mallory') {
  const tenant = await given.tenant(scene.instance, name);
  await given.application(scene.instance, tenant.application.id, { returnUrls: [RETURN_TO] });
  const own = await withClient(scene, name.toLowerCase(), tenant.application, tenant.workspaceKey);
  return { tenant, own };
}

/** Connects an identity at the provider to the holder of a session. */
export async function link(scene: Scene, token: string, claims: Record<string, unknown>): Promise<Answer> {
  const started = await scene.browser.visit('/api/account/providers', {
    method: 'POST',
    token,
    body: { returnTo: RETURN_TO },
  });
  scene.provider.claims = claims;
  return scene.comeBack(scene.provider.agree(started.json.data.authorizationUrl));
}
