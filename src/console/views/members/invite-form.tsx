/** Form for inviting a member with a role. */
import { useState } from 'preact/hooks';
import { EmailField, FieldError } from '../../../pages/components/field.tsx';
import { api, ask, type Schemas } from '../../api.ts';
import { ChooseOne } from '../../components/choices.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useRights, useWorld } from '../../rights.tsx';
import { type Role, roleChoices } from './roles.ts';

interface InviteFormProps {
  readonly onDone: (member: Schemas['Member']) => void;
  readonly onClose: () => void;
}

export function InviteForm({ onDone, onClose }: InviteFormProps) {
  const { workspace } = useWorld();
  const { isOwner } = useRights();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('admin');
  return (
    <FormDialog
      id="invite-form"
      title={`Invite to ${workspace.name}`}
      lead="They get a mail with a link, and sign in with a code sent to this address."
      submitText="Invite"
      isIncomplete={email.trim() === ''}
      send={() =>
        ask(
          api.POST('/api/workspace/members', {
            params: { query: { workspaceId: workspace.id } },
            body: { email: email.trim(), role },
          }),
        )
      }
      onDone={onDone}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <EmailField
            id="invite-email"
            label="E-mail"
            autoFocus
            autocomplete="off"
            value={email}
            error={errorOf('email')}
            onInput={({ currentTarget }) => setEmail(currentTarget.value)}
          />
          <ChooseOne id="invite-role" label="Role" choices={roleChoices(isOwner)} chosen={role} onChange={setRole} />
          <FieldError id="invite-role" error={errorOf('role')} />
        </>
      )}
    </FormDialog>
  );
}
