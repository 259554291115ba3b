/** Dialog that adds one user by the import, which is idempotent: a repeated call finds the user. */
import { api, ask, type Failure, type Outcome, type Schemas } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { LanguageField } from '../../components/language-field.tsx';
import type { Access } from '../grants/access.ts';
import { accessFields, type Chosen } from '../grants/access-fields.tsx';
import { type Invitation, invite } from './invite-user.tsx';

type Row = Schemas['ImportResult']['results'][number];

export interface AddedUser {
  readonly userId: string;
  readonly email: string;
  readonly isNew: boolean;
  /** Null if none was wanted. */
  readonly invitation: Invitation | null;
}

interface AddUserProps {
  readonly application: Schemas['Application'];
  readonly access: Access;
  readonly onDone: (user: AddedUser) => unknown;
}

interface Values extends Chosen {
  readonly email: string;
  readonly fullName: string;
  readonly username: string;
  readonly externalId: string;
  readonly locale: string;
  readonly isInvited: boolean;
}

export function AddUser({ application, access, onDone }: AddUserProps) {
  const defaults = (kind: keyof Chosen) => access[kind].flatMap(({ slug, isDefault }) => (isDefault ? [slug] : []));
  const form = useForm<Values>({
    ...{ email: '', fullName: '', username: '', externalId: '', locale: '', isInvited: false },
    ...{ roles: defaults('roles'), scopes: defaults('scopes'), memberships: defaults('memberships') },
  });
  const { email, fullName, username, externalId, locale, isInvited, roles, scopes, memberships } = form.values;

  async function send(): Promise<Outcome<AddedUser>> {
    const profile = textOf({ fullName, username, locale });
    const row = { email: email.trim(), ...textOf({ externalId }), roles, scopes, memberships, profile };
    const body = { users: [row] };
    const params = { path: { id: application.id } };
    const outcome = await ask(api.POST('/api/applications/{id}/users/bulk', { params, body }));
    if (!outcome.ok) return outcome;
    const [result] = outcome.data.results;
    if (!result || result.userId === null || result.outcome === 'skipped') return refusal(result);
    const { userId } = result;
    const invitation = isInvited ? await invite(application.id, userId) : null;
    return {
      ok: true,
      data: { userId, email: result.email, isNew: result.outcome !== 'already_member', invitation },
    };
  }

  return (
    <FormDialog
      id="add-user"
      title="Add user"
      lead={`They sign in with this address, and then find these roles, scopes and groups. ${gateWords(application)}`}
      submitText="Add user"
      isIncomplete={email.trim() === ''}
      form={form}
      fields={[
        { kind: 'email', id: 'add-user-email', name: 'email', label: 'E-mail' },
        {
          kind: 'text',
          id: 'add-user-name',
          name: 'fullName',
          label: 'Name',
          maxLength: 100,
          hint: 'Optional. Theirs to change once they have signed in.',
        },
        { kind: 'identifier', id: 'add-user-username', name: 'username', label: 'Username', hint: 'Optional.' },
        {
          kind: 'identifier',
          id: 'add-user-external-id',
          name: 'externalId',
          label: 'External ID',
          maxLength: 128,
          hint: 'Optional. Their id in your own systems.',
        },
        {
          kind: 'custom',
          name: 'locale',
          render: ({ value, set }) => (
            <LanguageField
              key="locale"
              id="add-user-locale"
              value={value}
              none="That of their browser"
              hint="Of their mails. Without one, the invitation is in English."
              onChoose={set}
            />
          ),
        },
        ...accessFields('add-user', access),
        { kind: 'checkbox', id: 'add-user-invited', name: 'isInvited', label: 'Send them an invitation by mail' },
      ]}
      send={send}
      onDone={onDone}
    />
  );
}

/** Says whether the gate lets somebody in who is added. */
function gateWords({ stage, signinGate }: Schemas['Application']): string {
  if (stage === 'draft') return 'Until the application is published, only members of the workspace can.';
  if (signinGate === 'private_beta') return 'The gate also asks for their address on the allowlist.';
  return signinGate === 'closed' ? 'The gate is closed to strangers, but lets them in.' : '';
}

/** Leaves blank texts out. */
function textOf<Name extends string>(values: Readonly<Record<Name, string>>): Partial<Record<Name, string>> {
  const given = Object.entries<string>(values).map(([name, text]) => [name, text.trim()] as const);
  return Object.fromEntries(given.filter(([, text]) => text !== '')) as Partial<Record<Name, string>>;
}

/** Refusals of the import, by code without its value, with the field that each belongs to. */
const REFUSALS: Readonly<Record<string, readonly [path: string, message: string]>> = {
  email_invalid: ['email', 'This is not a valid e-mail address.'],
  email_archived: ['email', 'Its holder has a newer address: add that one.'],
  user_deleted: ['email', 'A user with this address was deleted here: find and restore them instead.'],
  username_taken: ['username', 'Another user has this username.'],
  username_invalid: ['username', 'It takes 3 to 30 of a-z, 0-9, dot, underscore and hyphen, and no reserved word.'],
  external_id_taken: ['externalId', 'Another user has this external ID.'],
  'field_invalid:externalId': ['externalId', 'It takes 1 to 128 printable ASCII characters.'],
  'field_invalid:profile.fullName': ['fullName', 'It takes one line of at most 100 characters.'],
};

function refusal(row: Row | undefined): Failure {
  const code = row?.error ?? 'unknown';
  const known = REFUSALS[code] ?? REFUSALS[code.replace(/:.*$/s, '')];
  const fields = known ? [{ path: known[0], message: known[1] }] : [];
  return { ok: false, status: 409, code, message: `The user was not added: ${code}.`, fields };
}
