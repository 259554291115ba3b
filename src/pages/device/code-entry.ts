/** The page that takes a device's code, in the browser. */
import { takeUp } from '../browser/take-up.tsx';
import { DeviceCodePage } from './code-page.tsx';

takeUp(DeviceCodePage);
