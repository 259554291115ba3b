/** Guards against locking oneself out: what is removed must not be the last way in to an application of the person. */
import { and, eq, isNull } from 'drizzle-orm';
import { AppError } from '../../core/error.ts';
import { type Application, applications } from '../../db/schema/applications.ts';
import { passkeys } from '../../db/schema/passkeys.ts';
import { providerIdentities } from '../../db/schema/providers.ts';
import { applicationUsers } from '../../db/schema/users.ts';
import type { Unit } from '../../db/unit-of-work.ts';

/** The id of the one credential that is about to go. */
type Losing = { readonly passkeyId: string } | { readonly identityId: string };

/** Which issuer an application signs people in through; null where it has none. */
export type IssuerOf = (application: Pick<Application, 'id'>) => string | null;

export type WaysIn = ReturnType<typeof waysInService>;

export function waysInService(issuerOf: IssuerOf) {
  return {
    /**
     * Asks, for every application where the person is an active member and the credential is a way in, whether another one
     * is left to them. A code by mail always is where it is allowed, since everyone has an address.
     *
     * @throws {AppError} invalid_state, naming the first application they could no longer sign in to.
     */
    requireAnother(unit: Unit, userId: string, losing: Losing): void {
      const held = credentialsOf(unit, userId);
      const remaining = held.filter(({ id }) => id !== ('passkeyId' in losing ? losing.passkeyId : losing.identityId));
      const opens = (credentials: readonly Credential[], application: Membership) =>
        credentials.some((credential) => isWayInto(credential, application));
      const stranded = membershipsOf(unit, userId).find(
        (application) =>
          !application.signinMethods.includes('otp') && opens(held, application) && !opens(remaining, application),
      );
      if (stranded)
        throw new AppError('invalid_state', {
          message: `This is your last way in to ${stranded.name}; add another first, or remove it with force.`,
        });
    },
  };

  function isWayInto({ method, workspaceId, issuer }: Credential, application: Membership): boolean {
    if (!application.signinMethods.includes(method)) return false;
    if (workspaceId !== null && workspaceId !== application.workspaceId) return false;
    return method === 'passkey' || issuer === issuerOf(application);
  }
}

interface Credential {
  readonly id: string;
  readonly method: 'passkey' | 'provider';
  readonly workspaceId: string | null;
  readonly issuer: string | null;
}

function credentialsOf({ tx }: Unit, userId: string): Credential[] {
  const ofPerson = tx.select().from(passkeys).where(eq(passkeys.userId, userId)).all();
  const identities = tx.select().from(providerIdentities).where(eq(providerIdentities.userId, userId)).all();
  return [
    ...ofPerson.map(({ id, workspaceId }) => ({ id, workspaceId, method: 'passkey' as const, issuer: null })),
    ...identities.map(({ id, workspaceId, issuer }) => ({ id, workspaceId, method: 'provider' as const, issuer })),
  ];
}

type Membership = ReturnType<typeof membershipsOf>[number];

/** Deleted applications are left out: there is no way in to lose. */
function membershipsOf({ tx }: Unit, userId: string) {
  const { id, workspaceId, name, signinMethods } = applications;
  return tx
    .select({ id, workspaceId, name, signinMethods })
    .from(applicationUsers)
    .innerJoin(applications, eq(id, applicationUsers.applicationId))
    .where(
      and(eq(applicationUsers.userId, userId), eq(applicationUsers.status, 'active'), isNull(applications.deletedAt)),
    )
    .orderBy(applicationUsers.id)
    .all();
}
