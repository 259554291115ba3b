/** The calls that the tests of applications share, and the fields of the record. */
import type { Instance } from '../../support/instance.ts';

/** The fields of an application, in order. */
export const RECORD = [
  'id',
  'workspaceId',
  'clientId',
  'slug',
  'name',
  'stage',
  'signinGate',
  'betaRequestPolicy',
  'signinMethods',
  'defaultRoles',
  'sessionTtlSeconds',
  'returnUrls',
  'legalUrls',
  'branding',
  'account',
  'clientSecretPrefix',
  'pendingWork',
  'archivedAt',
  'deletedAt',
  'purgeAfter',
  'isHidden',
  'firstVerifiedAt',
  'verificationRefusal',
  'createdAt',
  'updatedAt',
];

/** Account page of an application that hides nothing. */
export const WHOLE_ACCOUNT = {
  parts: ['profile', 'addresses', 'applications'],
  fields: ['avatar', 'banner', 'names', 'username', 'locale', 'region', 'languages', 'addresses', 'entities'],
};

/** Branding of an application for which none was set. */
export const NO_BRANDING = {
  logoUrl: null,
  logoDarkUrl: null,
  iconUrl: null,
  accentColor: null,
  homeUrl: null,
  supportUrl: null,
  supportEmail: null,
};

/** Returns the calls with a token, by default the workspace key. */
export const as = (instance: Instance, token: string | undefined = instance.workspaceKey) => ({
  create: (body?: unknown) => instance.call('POST', '/api/applications', { token, body }),
  list: (query = '') => instance.call('GET', `/api/applications${query}`, { token }),
  get: (id: string) => instance.call('GET', `/api/applications/${id}`, { token }),
  patch: (id: string, body: unknown) => instance.call('PATCH', `/api/applications/${id}`, { token, body }),
  publish: (id: string, body?: unknown) => instance.call('POST', `/api/applications/${id}/publish`, { token, body }),
  goLive: (id: string, body?: unknown) => instance.call('POST', `/api/applications/${id}/go-live`, { token, body }),
});

export const draft = async (instance: Instance, body: unknown = {}) => (await as(instance).create(body)).json.data;
