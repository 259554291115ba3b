/** Confirms forgetting an imported user who never signed in. */
import { api, ask, type Schemas } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';

interface ForgetDialogProps {
  readonly applicationId: string;
  readonly user: Schemas['UserDetail'];
  readonly onDone: () => unknown;
}

const LIFTED: Partial<Record<Schemas['MembershipStatus'], string>> = {
  banned: ' Their ban ends with it.',
  paused: ' Their pause ends with it.',
  deleted: ' This also removes their deletion; to block the address, leave them deleted.',
};

export function ForgetDialog({ applicationId, user, onDone }: ForgetDialogProps) {
  const { userId, email, status } = user;
  return (
    <FormDialog
      isDanger
      id="user-forgetting"
      title={`Forget the import of ${email}?`}
      lead={`They were imported and have never signed in. What was imported is removed for good: name, username, roles, scopes and groups. The address may then sign in like any other.${LIFTED[status] ?? ''}`}
      submitText="Forget import"
      nameToType={email}
      send={() =>
        ask(api.DELETE('/api/applications/{id}/users/{userId}', { params: { path: { id: applicationId, userId } } }))
      }
      onDone={onDone}
    />
  );
}
