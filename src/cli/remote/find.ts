/** Resolves what people type: applications by slug, users by address, roles by slug. */
import type { Client } from '../../client/client.ts';
import type { DataAt, ItemAt } from '../../client/paths.ts';
import { StartupError } from '../../core/startup-error.ts';
import { type Option, UsageError } from '../arguments.ts';

export const APP_OPTION: Option = {
  value: 'APP',
  meaning: 'Application: id, slug or client id. Optional if there is only one.',
};

export type ManagedApp = DataAt<'/api/applications/{id}', 'get'>;
export type ListedUser = ItemAt<'/api/applications/{id}/users'>;

const SHOWN = 8;

/**
 * Finds the named application, or the only one. @param by how to name one, in words.
 * @throws {UsageError} when there are several. @throws {StartupError} when there is none.
 */
export async function findApp(client: Client, named: string | undefined, by = ' with --app'): Promise<ManagedApp> {
  if (named?.startsWith('app_')) return client.get('/api/applications/{id}', { path: { id: named } });
  const seen: ManagedApp[] = [];
  for await (const application of client.all('/api/applications')) {
    if (named !== undefined && [application.slug, application.clientId].includes(named)) return application;
    if (application.deletedAt === null) seen.push(application);
  }
  const slugs = seen.map(({ slug }) => slug);
  const known = `${slugs.slice(0, SHOWN).join(', ')}${slugs.length > SHOWN ? ', …' : ''}`;
  const [only] = seen;
  if (!only) throw new StartupError('There is no application yet. Make one: gatehouse apps create NAME');
  if (named !== undefined)
    throw new StartupError(`There is no application "${named}" within reach. There are: ${known}.`);
  if (seen.length > 1) throw new UsageError(`Say which application${by}: ${known}.`);
  return only;
}

/** Returns the id of a user. @param named id or full e-mail address. @throws {StartupError} */
export async function findUserId(client: Client, application: ManagedApp, named: string): Promise<string> {
  if (named.startsWith('usr_')) return named;
  if (!named.includes('@')) throw new UsageError(`"${named}" is no user. Give an id (usr_…) or an e-mail address.`);
  const path = { id: application.id };
  for await (const user of client.all('/api/applications/{id}/users', { path, query: { q: named } }))
    if (user.email.toLowerCase() === named.toLowerCase()) return user.userId;
  throw new StartupError(`${application.name} has no user with the address ${named}. See: gatehouse users list --q …`);
}
