/** Dialog that changes what an operator may change of a user, and says why the rest is not theirs to change. */
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { metadataIn, patchBetween, textOfMetadata } from './metadata-text.ts';
import { isForgettable } from './statuses.ts';

type User = Schemas['UserDetail'];
type Patch = Schemas['UserPatch'];

interface EditUserProps {
  readonly applicationId: string;
  readonly user: User;
  readonly onDone: () => unknown;
}

export function EditUser({ applicationId, user, onDone }: EditUserProps) {
  const { userId, metadata = {}, profile } = user;
  const isPerson = user.kind === 'person';
  // Until they sign in, the profile is what an import said.
  const isProfileOpen = isPerson && isForgettable(user);
  const initial = {
    fullName: profile?.fullName ?? '',
    username: user.username ?? '',
    externalId: user.externalId ?? '',
    metadata: textOfMetadata(metadata),
  };
  const form = useForm(initial);
  const values = form.values;
  const changed = (name: keyof typeof initial) => values[name].trim() !== initial[name].trim();
  const names = Object.keys(initial) as (keyof typeof initial)[];

  async function send(): Promise<Outcome<unknown>> {
    const read = metadataIn(values.metadata);
    if ('problem' in read) {
      const fields = [{ path: 'metadata', message: read.problem }];
      return { ok: false, status: 400, code: 'invalid_request', message: read.problem, fields };
    }
    const body: Patch = {
      ...(changed('fullName') && { profile: { fullName: values.fullName.trim() || null } }),
      ...(changed('username') && { username: values.username.trim() || null }),
      ...(changed('externalId') && { externalId: values.externalId.trim() || null }),
      ...(changed('metadata') && { metadata: patchBetween(metadata, read.metadata) }),
    };
    const params = { path: { id: applicationId, userId } };
    return ask(api.PATCH('/api/applications/{id}/users/{userId}', { params, body }));
  }

  return (
    <FormDialog
      id="edit-user"
      title={`Edit ${user.email}`}
      lead={isPerson ? whose(isProfileOpen) : 'The name is that of the API key: change it there.'}
      submitText="Save user"
      isIncomplete={!names.some(changed)}
      form={form}
      fields={[
        isProfileOpen && {
          kind: 'text',
          id: 'edit-user-name',
          name: 'fullName',
          path: 'profile.fullName',
          label: 'Name',
          maxLength: 100,
        },
        isPerson && { kind: 'identifier', id: 'edit-user-username', name: 'username', label: 'Username' },
        {
          kind: 'identifier',
          id: 'edit-user-external-id',
          name: 'externalId',
          label: 'External ID',
          maxLength: 128,
          hint: 'Their id in your own systems; unique in the application.',
        },
        {
          kind: 'textarea',
          id: 'edit-user-metadata',
          name: 'metadata',
          label: 'Metadata',
          rows: 7,
          placeholder: '{"plan": "pro"}',
          hint: 'A JSON object of at most 4096 bytes. Backends get it with a verdict.',
        },
      ]}
      send={send}
      onDone={onDone}
    />
  );
}

function whose(isProfileOpen: boolean): string {
  return isProfileOpen
    ? 'The name is theirs once they sign in. A wrong address is forgotten and added again.'
    : 'Name, picture and language are the person’s own, and only the holder changes an address: on their account page.';
}
