/** What tests of imports have in common. */
import { createInstance } from '../../support/instance.ts';
import { managing, tables } from '../users/management.ts';

/** An application with an importer, and another beside it. */
export async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const other = await instance.createApplication({ name: 'Other' });
  const manage = managing(instance, application);
  const elsewhere = managing(instance, other);
  const post = (users: unknown) => manage('POST', '/users/bulk', { body: { users } });
  /** Imports rows that are expected to be accepted, and answers the data. */
  const load = async (...users: unknown[]) => (await post(users)).json.data;
  const profileOf = async (userId: string) => (await manage('GET', `/users/${userId}`)).json.data.profile;
  const count = (sql: string) => Object.values(instance.sqlite.query(sql).get() as Record<string, number>)[0];
  return { instance, application, other, manage, elsewhere, post, load, profileOf, count };
}

/** What a row may say of somebody. */
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

/** The same, as it is shown. */
export const SHOWN = {
  fullName: 'Ada King',
  givenName: 'Ada',
  familyName: 'Lovelace',
  avatarUrl: null,
  locale: 'en-GB',
  timezone: 'Europe/London',
  languages: PROFILE.languages,
};

/** Everything but the record of the call itself. */
export async function withoutAudit(...args: Parameters<typeof tables>) {
  const { audit_records: _, ...rest } = await tables(...args);
  return rest;
}
