import type { ComponentType } from 'preact';
import { AddressesPart } from './addresses-part.tsx';
import { ApplicationsPart } from './applications-part.tsx';
import { DataPart } from './data-part.tsx';
import { DevicesPart } from './devices-part.tsx';
import type { AccountPart } from './parts.ts';
import { ProfilePart } from './profile-part.tsx';
import { SignInPart } from './sign-in-part.tsx';

export const PARTS: Readonly<Record<AccountPart, ComponentType>> = {
  profile: ProfilePart,
  addresses: AddressesPart,
  'sign-in': SignInPart,
  devices: DevicesPart,
  applications: ApplicationsPart,
  data: DataPart,
};
