/** `gatehouse roles`, `scopes` and `groups`: the same commands for all three. */
import type { ItemAt } from '../../client/paths.ts';
import { StartupError } from '../../core/startup-error.ts';
import { UsageError } from '../arguments.ts';
import { type RemoteCall, remoteCommand, type RemoteCommand } from './remote-command.ts';

type Grant = ItemAt<'/api/applications/{id}/roles'>;

const KINDS = {
  role: {
    family: 'roles',
    list: '/api/applications/{id}/roles',
    one: '/api/applications/{id}/roles/{roleId}',
    key: 'roleId',
  },
  scope: {
    family: 'scopes',
    list: '/api/applications/{id}/scopes',
    one: '/api/applications/{id}/scopes/{scopeId}',
    key: 'scopeId',
  },
  group: {
    family: 'groups',
    list: '/api/applications/{id}/memberships',
    one: '/api/applications/{id}/memberships/{membershipId}',
    key: 'membershipId',
  },
} as const;

const FIELDS = {
  name: { value: 'NAME', meaning: 'What people see.' },
  description: { value: 'TEXT', meaning: 'What it is for.' },
  default: { value: 'YES/NO', meaning: 'Whether people get it on joining.' },
};

function fieldsOf({ text, choice }: RemoteCall) {
  const [name, description] = [text('name'), text('description')];
  const isDefault = choice('default', ['yes', 'no']);
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: description || null }),
    ...(isDefault !== undefined && { isDefault: isDefault === 'yes' }),
  };
}

function commandsOf(kind: keyof typeof KINDS): RemoteCommand[] {
  const { family, list, one, key } = KINDS[kind];
  const SLUG = { name: 'SLUG', meaning: `Of the ${kind}.` };
  const common = { isOfApplication: true } as const;

  async function find({ client, operands: [slug] }: RemoteCall, id: string): Promise<Grant> {
    for await (const item of client.all(list, { path: { id } }))
      if (item.slug === slug || item.id === slug) return item;
    throw new StartupError(`There is no ${kind} "${slug}". See: gatehouse ${family} list`);
  }
  // The three differ only in the name of the path parameter.
  const at = (id: string, item: Grant) =>
    ({ id, [key]: item.id }) as unknown as { id: string } & Record<'roleId' | 'scopeId' | 'membershipId', string>;

  return [
    remoteCommand({
      ...common,
      name: `${family} list`,
      summary: `List the ${family} of an application`,
      isList: true,
      async carryOut({ client, show, paging, application }) {
        const path = { id: (await application()).id };
        await show.list<Grant>(
          {
            columns: [
              { title: 'SLUG', of: ({ slug }) => slug },
              { title: 'NAME', of: ({ name }) => name, isCut: true },
              { title: 'ON JOINING', of: ({ isDefault }) => (isDefault ? 'yes' : 'no') },
              { title: 'DESCRIPTION', of: ({ description }) => description, isCut: true },
            ],
            page: (query) => client.get(list, { path, query }),
            empty: `There are no ${family} yet. Make one: gatehouse ${family} create SLUG`,
          },
          paging,
        );
      },
    }),
    remoteCommand({
      ...common,
      name: `${family} create`,
      summary: `Create a ${kind}`,
      operands: [{ name: 'SLUG', meaning: 'As it stands in envelopes.' }],
      options: FIELDS,
      next: [`Next: gatehouse users grant USER --${family} SLUG`],
      async carryOut(call) {
        const path = { id: (await call.application()).id };
        const created = await call.client.post(list, {
          path,
          body: { slug: call.operands[0] ?? '', ...fieldsOf(call) },
        });
        await call.show.done(
          created,
          `${created.slug} is there. Give it: gatehouse users grant USER --${family} ${created.slug}`,
        );
      },
    }),
    remoteCommand({
      ...common,
      name: `${family} update`,
      summary: `Change a ${kind}: what is not given stays`,
      operands: [SLUG],
      options: { ...FIELDS, slug: { value: 'SLUG', meaning: 'The new slug.' } },
      switches: { force: 'Change the slug although somebody has it.' },
      async carryOut(call) {
        const { id } = await call.application();
        const slug = call.text('slug');
        const body = { ...fieldsOf(call), ...(slug !== undefined && { slug }) };
        if (Object.keys(body).length === 0)
          throw new UsageError(`Say what to change. See "gatehouse help ${family} update".`);
        const path = at(id, await find(call, id));
        const query = { ...(call.isOn('force') && { force: true }) };
        const changed = await call.client.patch(one, { path, query, body });
        await call.show.done(changed, `${changed.slug} is changed.`);
      },
    }),
    remoteCommand({
      ...common,
      name: `${family} delete`,
      summary: `Delete a ${kind}`,
      operands: [SLUG],
      switches: { force: 'Take it away from everybody who has it.' },
      isFinal: true,
      async carryOut(call) {
        const { id } = await call.application();
        const item = await find(call, id);
        const force = call.isOn('force');
        await call.confirm(
          item.slug,
          `The ${kind} ${item.slug} is deleted${force ? ', and taken away from all who have it' : ''}.`,
        );
        const gone = await call.client.delete(one, { path: at(id, item), query: { ...(force && { force }) } });
        await call.show.done(gone, `${item.slug} is deleted; ${gone.withdrawnFrom} had it.`);
      },
    }),
  ];
}

export const SLUGS: readonly RemoteCommand[] = [...commandsOf('role'), ...commandsOf('scope'), ...commandsOf('group')];
