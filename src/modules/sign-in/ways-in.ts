/** Guards against locking oneself out: what is removed must not be the last way in to an application of the person. */
import { AppError } from '../../core/error.ts';
import type { Reader, Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { listMembershipsWithApplication } from '../../store/members.ts';
import { listPasskeysOf } from '../../store/passkeys.ts';
import { listIdentitiesOf } from '../../store/provider-identities.ts';

/** The id of the one credential that is about to go. */
type Losing = { readonly passkeyId: string } | { readonly identityId: string };

/** Which issuer each of these applications signs people in through; null where it has none. */
export type IssuersOf = (
  reader: Reader,
  applicationIds: readonly string[],
) => Promise<ReadonlyMap<string, string | null>>;

export type WaysIn = ReturnType<typeof waysInService>;

/** @param issuersOf asked within the change that takes the credential away. */
export function waysInService(issuersOf: IssuersOf) {
  return {
    /**
     * Asks, for every application where the person is an active member and the credential is a way in, whether another one
     * is left to them. A code by mail always is where it is allowed, since everyone has an address.
     *
     * @throws {AppError} invalid_state, naming the first application they could no longer sign in to.
     */
    async requireAnother(unit: Unit, userId: string, losing: Losing): Promise<void> {
      const held = await credentialsOf(unit, userId);
      const remaining = held.filter(({ id }) => id !== ('passkeyId' in losing ? losing.passkeyId : losing.identityId));
      const applications = (await activeApplicationsOf(unit, userId)).filter(
        ({ signinMethods }) => !signinMethods.includes('otp'),
      );
      const issuers = await issuersOf(
        unit,
        applications.map(({ id }) => id),
      );
      const opens = (credentials: readonly Credential[], application: Application) =>
        credentials.some((credential) => isWayInto(credential, application, issuers.get(application.id) ?? null));
      const stranded = applications.find((application) => opens(held, application) && !opens(remaining, application));
      if (stranded)
        throw new AppError('invalid_state', { hint: 'last_way_in', values: { application: stranded.name } });
    },
  };
}

interface Credential {
  readonly id: string;
  readonly method: 'passkey' | 'provider';
  readonly workspaceId: string | null;
  readonly issuer: string | null;
}

/** @param usedIssuer the one that the application signs people in through. */
function isWayInto(
  { method, workspaceId, issuer }: Credential,
  application: Application,
  usedIssuer: string | null,
): boolean {
  if (!application.signinMethods.includes(method)) return false;
  if (workspaceId !== null && workspaceId !== application.workspaceId) return false;
  return method === 'passkey' || issuer === usedIssuer;
}

async function credentialsOf(reader: Reader, userId: string): Promise<Credential[]> {
  const passkeys = await listPasskeysOf(reader, userId);
  const identities = await listIdentitiesOf(reader, userId);
  return [
    ...passkeys.map(({ id, workspaceId }) => ({ id, workspaceId, method: 'passkey' as const, issuer: null })),
    ...identities.map(({ id, workspaceId, issuer }) => ({ id, workspaceId, method: 'provider' as const, issuer })),
  ];
}

/** Where the person is an active member. Deleted applications are left out: there is no way in to lose. */
async function activeApplicationsOf(reader: Reader, userId: string): Promise<Application[]> {
  const memberships = await listMembershipsWithApplication(reader, userId);
  return memberships
    .filter(({ member, application }) => member.status === 'active' && application.deletedAt === null)
    .map(({ application }) => application);
}
