/** Joins related operations into one tool with an `action`, so that the whole list fits an agent's context. */
import type { ObjectSchema } from './arguments.ts';
import type { Tool, ToolDefinition } from './tools.ts';

type Schema = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, Schema>>;

export interface Family {
  readonly name: string;
  readonly about: string;
  /** Ids of operations, which are also the values of `action`. */
  readonly actions: readonly string[];
  /** Text of an action beside its summary, in place of the operation's own description. */
  readonly words?: Readonly<Record<string, string>>;
}

/** Argument that names the operation of a family. */
export const ACTION = 'action';

/**
 * The families. Reading and changing actions stay apart, so that a client may allow the reading ones for good. An
 * operation in none of them is a tool of its own.
 */
export const FAMILIES: readonly Family[] = [
  {
    name: 'readApplication',
    about: 'Read an application’s settings and statistics.',
    actions: ['getApplication', 'getStats', 'getIdentityProvider', 'getOpenId'],
    words: {
      getStats: 'By day (UTC), for up to 750 days: new and active people, sign-ins, refusals.',
    },
  },
  {
    name: 'manageApplication',
    about: 'Create an application or change its settings.',
    actions: [
      'createApplication',
      'updateApplication',
      'deleteApplicationImage',
      'recheckApplicationUrls',
      'rotateApplicationSecret',
      'setIdentityProvider',
      'removeIdentityProvider',
      'setOpenId',
      'removeOpenId',
    ],
    words: {
      deleteApplicationImage: 'An address on another host is removed by updateApplication.',
      recheckApplicationUrls: '',
      setIdentityProvider: 'A provider other than Google’s needs a key of the whole workspace.',
      setOpenId: 'Fields that are left out stay.',
      removeOpenId: 'Sessions of its clients end.',
    },
  },
  {
    name: 'manageLifecycle',
    about: 'Publish, go live, archive, delete and bring back applications.',
    actions: [
      'publishApplication',
      'goLiveApplication',
      'sendLifecycleCode',
      'confirmLifecycle',
      'unarchiveApplication',
      'restoreApplication',
    ],
    words: {
      sendLifecycleCode:
        'It goes to the acting member, or for a key to the owners; confirmLifecycle takes it. Nothing is removed for good.',
      restoreApplication: 'Possible at any time.',
    },
  },
  {
    name: 'readActivity',
    about: 'Read the audit log: what happened, by whom, and why something was refused.',
    actions: ['listActivity', 'getActivity', 'listWorkspaceActivity', 'getWorkspaceActivity'],
    words: {
      listActivity: 'A filtered page may be short although another follows.',
      listWorkspaceActivity: '',
    },
  },
  {
    name: 'readApiKeys',
    about: 'Read API keys of an application or the workspace, and their use.',
    actions: [
      'listApplicationKeys',
      'getApplicationKey',
      'getApplicationKeyCalls',
      'listWorkspaceKeys',
      'getWorkspaceKey',
    ],
  },
  {
    name: 'manageApiKeys',
    about: 'Create, change, rotate and revoke API keys of an application or the workspace.',
    actions: [
      'createApplicationKey',
      'updateApplicationKey',
      'rotateApplicationKey',
      'rotateApplicationKeyWithGrace',
      'revokeApplicationKey',
      'createWorkspaceKey',
      'updateWorkspaceKey',
      'rotateWorkspaceKey',
      'rotateWorkspaceKeyWithGrace',
      'revokeWorkspaceKey',
    ],
    words: {
      createApplicationKey: 'The token is only in this answer.',
      createWorkspaceKey:
        'As above; roles, scopes and memberships need exactly one application and give no management rights.',
    },
  },
  {
    name: 'readSigninGate',
    about: 'Read who asked to be let in, and the allowlist.',
    actions: ['listBetaInterests', 'countBetaInterests'],
  },
  {
    name: 'manageSigninGate',
    about: 'Decide who may sign in: open or close the gate, approve and decline.',
    actions: [
      'setSigninGate',
      'setBetaPolicy',
      'addBetaInterests',
      'decideBetaInterests',
      'approveBetaInterest',
      'declineBetaInterest',
      'deleteBetaInterest',
    ],
    words: {
      setSigninGate: '`public` mails everybody on the waitlist, once.',
      setBetaPolicy: 'Mails follow.',
      decideBetaInterests: 'One outcome per entry. Not atomic: repeat an interrupted call.',
    },
  },
  {
    name: 'readRoles',
    about: 'Read the roles, scopes and membership groups that an application defines.',
    actions: ['listRoles', 'listScopes', 'listMembershipGroups'],
  },
  {
    name: 'manageRoles',
    about: 'Define roles, scopes and membership groups. manageUserGrants gives them to users.',
    actions: [
      'createRole',
      'updateRole',
      'deleteRole',
      'createScope',
      'updateScope',
      'deleteScope',
      'createMembershipGroup',
      'updateMembershipGroup',
      'deleteMembershipGroup',
    ],
    words: {
      updateScope: '',
      deleteScope: '',
      updateMembershipGroup: '',
      deleteMembershipGroup: '',
      updateRole: 'A new slug for what somebody holds needs `force`, also of scopes and groups.',
      deleteRole: 'If somebody holds it, `force` takes it away from everyone, also scopes and groups.',
    },
  },
  {
    name: 'readUser',
    about: 'Read one user and their sessions. listUsers finds users.',
    actions: ['getUser', 'listUserSessions'],
  },
  {
    name: 'manageUsers',
    about: 'Change, invite and import users.',
    actions: ['updateUser', 'inviteUser', 'importUsers', 'checkUsernames'],
    words: {
      updateUser: 'Fields that are left out stay; `metadata` is a merge patch.',
      inviteUser: 'Nothing is sent to people who have signed in.',
      importUsers: 'One outcome per row. Adds, never overwrites, removes or mails; can be repeated.',
    },
  },
  {
    name: 'manageUserStatus',
    about: 'Ban, pause, delete and bring back a user; end sessions. changeUsers does it for many.',
    actions: [
      'banUser',
      'unbanUser',
      'pauseUser',
      'resumeUser',
      'deleteUser',
      'restoreUser',
      'forgetUser',
      'revokeUserSessions',
      'revokeUserSession',
    ],
    words: {
      forgetUser: '',
    },
  },
  {
    name: 'manageUserGrants',
    about: 'Give roles, scopes and membership groups to users, or take them away.',
    actions: ['setUserRoles', 'setUserScopes', 'setUserMemberships', 'changeUserGrants'],
    words: {
      changeUserGrants: 'Other grants stay. One outcome per user. Not atomic: repeat an interrupted call.',
    },
  },
  {
    name: 'readWebhooks',
    about: 'Read webhooks and their deliveries.',
    actions: ['listWebhooks', 'getWebhook', 'listDeliveries', 'getDelivery'],
    words: {
      listDeliveries: '',
    },
  },
  {
    name: 'manageWebhooks',
    about: 'Create, change, test and delete webhooks, and send deliveries again.',
    actions: [
      'createWebhook',
      'updateWebhook',
      'deleteWebhook',
      'rotateWebhookSecret',
      'testWebhook',
      'releaseWebhook',
      'replayDeliveries',
      'redeliver',
    ],
  },
  {
    name: 'readWorkspace',
    about: 'Read workspaces and their members, who use the console.',
    actions: ['listWorkspaces', 'getWorkspace', 'listMembers'],
  },
  {
    name: 'manageWorkspace',
    about: 'Change the workspace and its members, who use the console; test its mail.',
    actions: ['updateWorkspace', 'inviteMember', 'updateMember', 'removeMember', 'testMail'],
    words: {
      removeMember: 'Keys they created keep working, except personal ones, and are returned.',
      testMail: 'A refusal by the mail server is an answer too.',
    },
  },
];

/** Returns the tool of a family, limited to the given members. @param members at least one, in the family's order. */
export function familyDefinition({ name, about, words }: Family, members: readonly Tool[]): ToolDefinition {
  const annotations = members.map(({ definition }) => definition.annotations);
  const isReadOnly = annotations.every(({ readOnlyHint }) => readOnlyHint);
  const inputSchema = schemaOf(members);
  const common = inputSchema.required ?? [];
  return {
    name,
    description: [
      about,
      `Actions${isReadOnly ? '' : ' (* needs confirm)'}:`,
      ...members.map((tool) => actionLine(tool, common, words?.[tool.operation.id])),
    ].join('\n'),
    inputSchema,
    annotations: {
      readOnlyHint: isReadOnly,
      ...(!isReadOnly && {
        destructiveHint: annotations.some(({ destructiveHint }) => destructiveHint === true),
        idempotentHint: annotations.every(
          ({ readOnlyHint, idempotentHint }) => readOnlyHint || idempotentHint === true,
        ),
      }),
      openWorldHint: annotations.some(({ openWorldHint }) => openWorldHint),
    },
  };
}

/** Writes `banUser*(userId, reason?): Ban a user.`, without the arguments that every action needs. */
function actionLine({ operation, takes, danger, gift }: Tool, common: readonly string[], words?: string): string {
  const { properties, required = [] } = takes.schema;
  const given = Object.entries(properties)
    .filter(([name, schema]) => !common.includes(name) && name !== 'confirm' && !isAlias(schema))
    .map(([name]) => (required.includes(name) ? name : `${name}?`));
  const isConfirmed = danger !== null || gift !== null;
  const text = [`${operation.summary}.`, words ?? operation.description].filter(Boolean).join(' ');
  return `${operation.id}${isConfirmed ? '*' : ''}(${given.join(', ')}): ${text}`;
}

function schemaOf(members: readonly Tool[]): ObjectSchema {
  const properties: Record<string, Schema> = {
    [ACTION]: { type: 'string', enum: members.map(({ operation }) => operation.id) },
  };
  const fields = members.flatMap(({ takes }) => Object.entries(lean(takes.schema.properties) as Fields));
  for (const [name, schema] of fields) {
    if (name === ACTION) throw new Error('an operation with an action of its own can be in no family');
    const { [name]: before } = properties;
    properties[name] = PLAIN[name] ?? (before ? joined(before, schema) : schema);
  }
  const [first = [], ...rest] = members.map(({ takes }) => takes.schema.required ?? []);
  const required = first.filter((name) => rest.every((names) => names.includes(name)));
  return { type: 'object', properties, required: [ACTION, ...required] };
}

/** Arguments that the words of a family, or the instructions, explain once. */
const PLAIN: Readonly<Record<string, Schema>> = {
  limit: { type: 'integer', maximum: 200 },
  cursor: { type: 'string' },
  confirm: { type: 'boolean' },
};

/** Returns a schema that takes what either takes. It may take more: the operation validates fully. */
function joined(one: Schema, other: Schema): Schema {
  const { enum: words, type, required: _, ...left } = one;
  const { enum: more, type: others, required: __, ...right } = other;
  const types = [...new Set([type, others].flat().filter((name) => name !== undefined))];
  return {
    ...right,
    ...left,
    ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
    ...(Array.isArray(words) && Array.isArray(more) && { enum: [...new Set([...words, ...more])] }),
  };
}

/** Leaves out second names of fields, and the words of nested ones: the operations still take and explain them. */
function lean(node: unknown, depth = 0): unknown {
  if (Array.isArray(node)) return node.map((item) => lean(item, depth + 1));
  if (typeof node !== 'object' || node === null) return node;
  const isKept = (key: string, value: unknown) =>
    !isAlias(value) && !(key === 'description' && typeof value === 'string' && depth > 1);
  const kept = Object.entries(node).filter(([key, value]) => isKept(key, value));
  return Object.fromEntries(kept.map(([key, value]) => [key, lean(value, depth + 1)]));
}

function isAlias(schema: unknown): boolean {
  const { description } = (schema ?? {}) as { readonly description?: unknown };
  return typeof description === 'string' && /^The same(\.| as `)/.test(description);
}
