/** Part of a user's detail: external id and metadata, which the operator sets, with the dialog that changes them. */
import { useToast } from '../../../pages/components/toast.tsx';
import type { Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { CopyBox, Copyable } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { DetailPart } from '../../components/list-detail.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { EditUser } from './edit-user.tsx';
import { InviteUser } from './invite-user.tsx';
import { textOfMetadata } from './metadata-text.ts';

interface UserRecordProps {
  readonly application: Schemas['Application'];
  readonly user: Schemas['UserDetail'];
  readonly onChanged: () => Promise<void>;
}

export function UserRecord({ application, user, onChanged }: UserRecordProps) {
  const toast = useToast();
  const { externalId, metadata, lastSeenAt, kind } = user;
  const { open, dialog } = useDialog(() => (
    <EditUser
      applicationId={application.id}
      user={user}
      onDone={() => {
        toast('User changed.');
        void onChanged();
      }}
    />
  ));
  const text = metadata && textOfMetadata(metadata);
  const { clientId } = application;
  const signInPage = `${location.origin}/sign-in?${new URLSearchParams({ clientId, email: user.email })}`;
  return (
    <DetailPart
      title="Your data"
      action={
        <Action id="open-edit-user" onClick={open}>
          Edit user
        </Action>
      }
    >
      <Facts
        of={[
          ['External ID', externalId === null ? <None /> : <Copyable value={externalId} label="external ID" />],
          metadata !== undefined && [
            'Metadata',
            text ? <CopyBox id="user-metadata" value={text} label="metadata" /> : <None />,
          ],
          kind === 'person' && [
            'Sign-in link',
            <>
              <Copyable value={signInPage} label="sign-in link" />
              <span class="fine block">The page with their address filled in. The link itself signs nobody in.</span>
            </>,
          ],
          kind === 'person' &&
            lastSeenAt === null && ['Invitation', <InviteUser applicationId={application.id} user={user} />],
        ]}
      />
      {dialog}
    </DetailPart>
  );
}

const None = () => <span class="muted">None</span>;
