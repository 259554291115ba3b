/** Records that the console shows around every view, by the rights of who is signed in to it. */
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Overview } from '../account/overview.ts';
import type { Applications } from '../applications/service.ts';
import type { Workspaces } from './service.ts';

/** More applications are loaded by the console itself. */
const MAX_APPLICATIONS = 200;

interface OpeningDependencies {
  readonly sessionOf: (request: Request) => Promise<{ readonly principal: SessionPrincipal } | null>;
  readonly account: Overview;
  readonly workspaces: Pick<Workspaces, 'list'>;
  readonly applications: Pick<Applications, 'list'>;
}

/** The result returns null without a session of the console. */
export function consoleOpening({ sessionOf, account, workspaces, applications }: OpeningDependencies) {
  return async (request: Request) => {
    const session = await sessionOf(request);
    if (!session) return null;
    const { principal } = session;
    const [own, theirs, page] = await Promise.all([
      account.get(principal),
      workspaces.list(principal),
      applications.list(principal, { include: 'hidden', limit: MAX_APPLICATIONS }),
    ]);
    return { account: own, workspaces: theirs, applications: page.nextCursor === null ? page.items : null };
  };
}
