/** Shared by the hosted pages: operation attributes and the lookup of the page's application. */
import { isClosed } from '../core/application-state.ts';
import { CONSOLE_CLIENT_ID } from '../core/console.ts';
import { AppError } from '../core/error.ts';
import type { Reader } from '../db/database.ts';
import { type Application, findApplicationByClientId } from '../store/applications.ts';

/** Open to anyone, without authentication. */
export const HOSTED_PAGE = {
  tag: 'Pages',
  access: 'none',
  scope: 'instance',
  style: 'page',
  isUndocumented: true,
} as const;

/** Returns the application in a page's address, or the console. @throws {AppError} not_found, application_archived */
export async function applicationOfPage(reader: Reader, query: URLSearchParams): Promise<Application> {
  const application = await findApplicationByClientId(reader, query.get('clientId') ?? CONSOLE_CLIENT_ID);
  if (!application) throw new AppError('not_found', { hint: 'application_unknown' });
  if (isClosed(application)) throw new AppError('application_archived');
  return application;
}
