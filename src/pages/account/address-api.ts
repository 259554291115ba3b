import { rowsOf } from './address-pattern.ts';

export const ADDRESSES = '/api/account/profile/addresses';
export const ENTITIES = '/api/account/profile/entities';

export const ADDRESS_USES = ['shipping', 'billing'] as const;

export interface OwnAddress {
  readonly id: string;
  readonly kind: (typeof ADDRESS_USES)[number];
  readonly label: string | null;
  readonly recipient: string;
  readonly company: string | null;
  readonly line1: string;
  readonly line2: string | null;
  readonly city: string;
  readonly region: string | null;
  readonly postalCode: string | null;
  readonly country: string;
  readonly phone: string | null;
  readonly isDefault: boolean;
}

export interface OwnEntity {
  readonly id: string;
  readonly legalName: string;
  readonly tradeName: string | null;
  readonly registrationNumber: string | null;
  readonly taxId: string | null;
  readonly country: string;
  readonly addressId: string | null;
}

/** Returns the address in one line, in the order of its country. */
export function addressLine({ company, country, line1, line2, postalCode, city, region }: OwnAddress): string {
  const values = { line1, line2: line2 ?? '', postalCode: postalCode ?? '', city, region: region ?? '' };
  const rows = rowsOf(country, values).map((row) =>
    row
      .map((name) => values[name])
      .filter(Boolean)
      .join(' '),
  );
  return [company, ...rows].filter(Boolean).join(', ');
}
