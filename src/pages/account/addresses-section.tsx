/** The reader's addresses: what they are for, and which one is taken where none is chosen. */
import { Package, ReceiptText } from 'lucide';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Row, Rows, RowsSkeleton, Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { type OwnAddress, addressLine } from './address-api.ts';
import { AddressDialog } from './address-dialog.tsx';
import { nameOf } from './choices.ts';
import { EditActions } from './edit-actions.tsx';

interface AddressesSectionProps {
  /** Null while they are fetched. */
  readonly addresses: readonly OwnAddress[] | null;
  onChanged(): Promise<void>;
  onRemove(id: string): Promise<void>;
}

export function AddressesSection({ addresses, onChanged, onRemove }: AddressesSectionProps) {
  const text = useTexts();
  const [edited, setEdited] = useState<OwnAddress | 'new' | null>(null);
  const [removed, setRemoved] = useState<OwnAddress | null>(null);
  return (
    <Section id="addresses" title={text('account.address.title')} lead={text('account.address.lead')}>
      {addresses === null && <RowsSkeleton count={2} />}
      {addresses?.length === 0 && <Empty>{text('account.address.none')}</Empty>}
      {addresses && addresses.length > 0 && (
        <Rows>
          {addresses.map((address) => (
            <Row
              key={address.id}
              icon={<Icon of={address.kind === 'billing' ? ReceiptText : Package} />}
              title={
                <>
                  {address.label ?? address.recipient}{' '}
                  <span class="badge">{text(`account.address.kind.${address.kind}`)}</span>
                  {address.isDefault && ' '}
                  {address.isDefault && <span class="badge">{text('account.address.default')}</span>}
                </>
              }
              detail={[
                address.label && address.recipient,
                addressLine(address),
                nameOf(address.country, 'region', text.locale),
                address.phone,
              ]
                .filter(Boolean)
                .join(' · ')}
              action={
                <EditActions
                  name={address.label ?? address.recipient}
                  onEdit={() => setEdited(address)}
                  onRemove={() => setRemoved(address)}
                />
              }
            />
          ))}
        </Rows>
      )}
      <Button id="address-add" look="plain" onClick={() => setEdited('new')}>
        {text('account.address.add')}
      </Button>
      {edited && (
        <AddressDialog
          address={edited === 'new' ? null : edited}
          onSaved={() => {
            setEdited(null);
            void onChanged();
          }}
          onClose={() => setEdited(null)}
        />
      )}
      {removed && (
        <ConfirmDialog
          id="remove-address"
          title={text('account.address.removeTitle')}
          lead={
            <>
              <strong dir="auto">{addressLine(removed)}</strong>
              <br />
              {text('account.address.removeLead')}
            </>
          }
          confirmText={text('account.remove')}
          busyText={text('account.removing')}
          onConfirm={async () => {
            setRemoved(null);
            await onRemove(removed.id);
          }}
          onClose={() => setRemoved(null)}
        />
      )}
    </Section>
  );
}
