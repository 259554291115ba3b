/** Says which id of a refused call is wrong, and which tool finds the right one. */
import type { FieldProblem } from '../../core/error.ts';
import { ID_PREFIXES, type IdKind } from '../../core/id.ts';
import type { Operation } from '../../http/operation.ts';

interface Named {
  readonly kind: IdKind;
  readonly words: string;
  /** Operation that lists them: of the application, and of the workspace if there is one. */
  readonly found: string;
  readonly foundInWorkspace?: string;
  /** Argument of that list that searches. */
  readonly by?: string;
}

/** Resources that the path parameters of operations identify. */
const NAMED: Readonly<Record<string, Named>> = {
  id: { kind: 'application', words: 'an application', found: 'listApplications' },
  userId: { kind: 'user', words: 'a user', found: 'listUsers', by: 'q' },
  sessionId: { kind: 'session', words: 'a session', found: 'listUserSessions' },
  roleId: { kind: 'role', words: 'a role', found: 'listRoles' },
  scopeId: { kind: 'scope', words: 'a scope', found: 'listScopes' },
  membershipId: { kind: 'membershipGroup', words: 'a membership group', found: 'listMembershipGroups' },
  keyId: { kind: 'apiKey', words: 'a key', found: 'listApplicationKeys', foundInWorkspace: 'listWorkspaceKeys' },
  interestId: { kind: 'betaInterest', words: 'an entry', found: 'listBetaInterests', by: 'email' },
  webhookId: { kind: 'webhook', words: 'a webhook', found: 'listWebhooks' },
  deliveryId: { kind: 'delivery', words: 'a delivery', found: 'listDeliveries' },
  activityId: { kind: 'audit', words: 'an activity', found: 'listActivity', foundInWorkspace: 'listWorkspaceActivity' },
  memberId: { kind: 'workspaceMember', words: 'a member', found: 'listMembers' },
};

/**
 * Returns the ids of a call that cannot be right; if all could be, every one of them. @param callOf says how to call an
 * operation as a tool.
 */
export function wrongIds(
  { path, scope }: Pick<Operation, 'path' | 'scope'>,
  given: Readonly<Record<string, unknown>>,
  callOf: (operationId: string) => string,
): FieldProblem[] {
  const ids = [...path.matchAll(/:(\w+)/g)].flatMap(([, name = '']) => {
    const { [name]: named } = NAMED;
    return named ? [{ name, ...named, prefix: `${ID_PREFIXES[named.kind]}_` }] : [];
  });
  const isWrong = ({ name, prefix }: (typeof ids)[number]) => !String(given[name]).startsWith(prefix);
  const wrong = ids.filter(isWrong);
  return (wrong.length > 0 ? wrong : ids).map(({ name, words, prefix, found, foundInWorkspace = found, by }) => {
    const problem = wrong.length > 0 ? `This is not the id of ${words} (${prefix}…)` : `There may be none with this id`;
    const finder = callOf(scope === 'workspace' ? foundInWorkspace : found);
    return { path: name, message: `${problem}: use ${finder}${by === undefined ? '' : ` with ${by}`}.` };
  });
}
