/** `gatehouse roles`, `scopes` and `groups`: the same commands for all three. */
import { operationCommand } from './operation-command.ts';
import type { RemoteCommand } from './remote-command.ts';

/** Operations of the three kinds; their fields are the same except for the path parameter. */
const OPERATIONS = {
  role: { list: 'listRoles', create: 'createRole', update: 'updateRole', delete: 'deleteRole' },
  scope: { list: 'listScopes', create: 'createScope', update: 'updateScope', delete: 'deleteScope' },
  group: {
    list: 'listMembershipGroups',
    create: 'createMembershipGroup',
    update: 'updateMembershipGroup',
    delete: 'deleteMembershipGroup',
  },
} as const;

const FLAGS = {
  name: { field: 'name', meaning: 'Name that people see.' },
  description: { field: 'description', value: 'TEXT', meaning: 'Explains the slug to other administrators.' },
  default: { field: 'isDefault', value: 'YES/NO' },
} as const;

function commandsOf(kind: keyof typeof OPERATIONS): RemoteCommand[] {
  const family = `${kind}s`;
  const operations = OPERATIONS[kind];
  return [
    operationCommand<'listRoles'>(operations.list as 'listRoles', {
      name: `${family} list`,
      summary: `List the ${family} of an application`,
      columns: {
        SLUG: 'slug',
        NAME: { cut: 'name' },
        'ON JOINING': 'isDefault',
        DESCRIPTION: { cut: 'description' },
      },
      empty: `There are no ${family} yet. Make one: gatehouse ${family} create SLUG`,
    }),
    operationCommand<'createRole'>(operations.create as 'createRole', {
      name: `${family} create`,
      summary: `Create a ${kind}`,
      operands: [{ field: 'slug', name: 'SLUG', meaning: `Slug of the ${kind}, as tokens and envelopes carry it.` }],
      flags: FLAGS,
      next: [`Next: gatehouse users grant USER --${family} SLUG`],
      done: ({ slug }) => `${slug} is there. Give it: gatehouse users grant USER --${family} ${slug}`,
    }),
    operationCommand<'updateRole'>(operations.update as 'updateRole', {
      name: `${family} update`,
      summary: `Change a ${kind}; omitted fields keep their values`,
      flags: {
        ...FLAGS,
        slug: { field: 'slug', meaning: 'The new slug.' },
        force: { field: 'force', meaning: 'Change the slug even if somebody holds it.' },
      },
      done: ({ slug }) => `${slug} is changed.`,
    }),
    operationCommand<'deleteRole'>(operations.delete as 'deleteRole', {
      name: `${family} delete`,
      summary: `Delete a ${kind}`,
      flags: { force: { field: 'force', meaning: 'Take it away from everybody who holds it.' } },
      confirm: ({ label, call }) => [
        label,
        `The ${kind} ${label} is deleted${call.isOn('force') ? ', and taken away from everybody who holds it' : ''}.`,
      ],
      done: ({ withdrawnFrom }, { label }) => `${label} is deleted; ${withdrawnFrom} had it.`,
    }),
  ];
}

export const GRANTS_COMMANDS: readonly RemoteCommand[] = [
  ...commandsOf('role'),
  ...commandsOf('scope'),
  ...commandsOf('group'),
];
