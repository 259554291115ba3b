/** Explains why an address without a user cannot sign in. */
import type { Schemas } from '../../api.ts';
import { Detail } from '../../components/list-detail.tsx';
import { WhyRefused } from './why-refused.tsx';

interface AddressDetailProps {
  readonly application: Schemas['Application'];
  readonly email: string;
  readonly closeTo: string;
}

export function AddressDetail({ application, email, closeTo }: AddressDetailProps) {
  return (
    <Detail
      title={`Why can’t ${email} sign in?`}
      subtitle={`Nobody with this address is a user of ${application.name}.`}
      closeTo={closeTo}
    >
      <WhyRefused application={application} email={email} user={null} />
    </Detail>
  );
}
