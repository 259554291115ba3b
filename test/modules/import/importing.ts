/** Set-up and data that the tests of imports share. */
import { createInstance } from '../../support/instance.ts';
import { managing, tables } from '../users/management.ts';

/** Creates an application with calls to import, and a second application. */
export async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const other = await instance.createApplication({ name: 'Other' });
  const manage = managing(instance, application);
  const elsewhere = managing(instance, other);
  const post = (users: unknown) => manage('POST', '/users/bulk', { body: { users } });
  /** Imports rows that are expected to be accepted, and returns the data. */
  const load = async (...users: unknown[]) => (await post(users)).json.data;
  const profileOf = async (userId: string) => (await manage('GET', `/users/${userId}`)).json.data.profile;
  const count = (sql: string) => Object.values(instance.sqlite.query(sql).get() as Record<string, number>)[0];
  return { instance, application, other, manage, elsewhere, post, load, profileOf, count };
}

/** A complete profile for a row. */
export const PROFILE = {
  username: 'ada',
  givenName: 'Ada',
  familyName: 'Lovelace',
  fullName: 'Ada King',
  locale: 'en-GB',
  timezone: 'Europe/London',
  languages: [
    { code: 'en', level: 'NATIVE' },
    { code: 'fr', level: 'FLUENT' },
  ],
};

/** The same profile as the API returns it. */
export const SHOWN = {
  fullName: 'Ada King',
  givenName: 'Ada',
  familyName: 'Lovelace',
  avatarUrl: null,
  locale: 'en-GB',
  timezone: 'Europe/London',
  languages: PROFILE.languages,
};

/** Reads all tables except the audit records, since each call writes one. */
export async function withoutAudit(...args: Parameters<typeof tables>) {
  const { audit_records: _, ...rest } = await tables(...args);
  return rest;
}
