/** Prevents people from removing their last sign-in method for an application. */
import { AppError } from '../../core/error.ts';
import { MAILED_METHODS } from '../../core/sign-in-methods.ts';
import type { Reader, Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { listMembershipsWithApplication } from '../../store/memberships.ts';
import { listPasskeysOf } from '../../store/passkeys.ts';
import { listIdentitiesOf, type ProviderIdentity } from '../../store/provider-identities.ts';

type RemovedCredential = { readonly passkeyId: string } | { readonly identityId: string };

/** Returns a check whether an identity can sign in to one of these applications. */
export type UsableIdentities = (
  reader: Reader,
  applicationIds: readonly string[],
) => Promise<(identity: ProviderIdentity, application: Application) => boolean>;

export type LastMethodGuard = ReturnType<typeof lastMethodGuard>;

/** @param usableIdentities called within the change that removes the credential. */
export function lastMethodGuard(usableIdentities: UsableIdentities) {
  return {
    /**
     * Requires another method in each application that the credential opens; a mailed code counts where it is allowed.
     *
     * @throws {AppError} invalid_state, naming the first application they could no longer sign in to.
     */
    async requireAnother(unit: Unit, userId: string, removed: RemovedCredential): Promise<void> {
      const held = await credentialsOf(unit, userId);
      const remaining = held.filter(
        ({ id }) => id !== ('passkeyId' in removed ? removed.passkeyId : removed.identityId),
      );
      const applications = (await activeApplicationsOf(unit, userId)).filter(
        ({ signinMethods }) => !signinMethods.some((method) => MAILED_METHODS.has(method)),
      );
      const isUsable = await usableIdentities(
        unit,
        applications.map(({ id }) => id),
      );
      const opens = (credentials: readonly Credential[], application: Application) =>
        credentials.some(
          (credential) =>
            application.signinMethods.includes(credential.method) &&
            (credential.method === 'provider'
              ? isUsable(credential.identity, application)
              : credential.workspaceId === null || credential.workspaceId === application.workspaceId),
        );
      const stranded = applications.find((application) => opens(held, application) && !opens(remaining, application));
      if (stranded)
        throw new AppError('invalid_state', { hint: 'last_way_in', values: { application: stranded.name } });
    },
  };
}

type Credential =
  | { readonly id: string; readonly method: 'passkey'; readonly workspaceId: string | null }
  | { readonly id: string; readonly method: 'provider'; readonly identity: ProviderIdentity };

async function credentialsOf(reader: Reader, userId: string): Promise<Credential[]> {
  const passkeys = await listPasskeysOf(reader, userId);
  const identities = await listIdentitiesOf(reader, userId);
  return [
    ...passkeys.map(({ id, workspaceId }) => ({ id, workspaceId, method: 'passkey' as const })),
    ...identities.map((identity) => ({ id: identity.id, identity, method: 'provider' as const })),
  ];
}

/** Leaves out deleted applications, which cannot be signed in to. */
async function activeApplicationsOf(reader: Reader, userId: string): Promise<Application[]> {
  const memberships = await listMembershipsWithApplication(reader, userId);
  return memberships
    .filter(({ member, application }) => member.status === 'active' && application.deletedAt === null)
    .map(({ application }) => application);
}
