/** The reader's addresses, with their uses and defaults. */
import { Package, ReceiptText } from 'lucide';
import { useTexts } from '../components/texts.tsx';
import { type OwnAddress, addressLine } from './address-api.ts';
import { AddressDialog } from './address-dialog.tsx';
import { nameOf } from './choices.ts';
import { EntriesSection } from './entries-section.tsx';

interface AddressesSectionProps {
  readonly addresses: readonly OwnAddress[] | null;
  onChanged(): Promise<void>;
  onRemove(id: string): Promise<void>;
}

export function AddressesSection({ addresses, ...changes }: AddressesSectionProps) {
  const text = useTexts();
  return (
    <EntriesSection
      id="addresses"
      kind="address"
      entries={addresses}
      skeletons={2}
      show={(address) => ({
        icon: address.kind === 'billing' ? ReceiptText : Package,
        title: (
          <>
            {address.label ?? address.recipient}{' '}
            <span class="badge">{text(`account.address.kind.${address.kind}`)}</span>
            {address.isDefault && ' '}
            {address.isDefault && <span class="badge">{text('account.address.default')}</span>}
          </>
        ),
        name: address.label ?? address.recipient,
        details: [
          address.label && address.recipient,
          addressLine(address),
          nameOf(address.country, 'region', text.locale),
          address.phone,
        ],
      })}
      removal={(address) => ({
        title: text('account.address.removeTitle'),
        lead: (
          <>
            <strong dir="auto">{addressLine(address)}</strong>
            <br />
            {text('account.address.removeLead')}
          </>
        ),
      })}
      dialog={(address, events) => <AddressDialog address={address} {...events} />}
      {...changes}
    />
  );
}
