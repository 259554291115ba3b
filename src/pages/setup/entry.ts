/** The setup page in the browser. */
import { takeUp } from '../browser/take-up.tsx';
import { SetupPage } from './page.tsx';

takeUp(SetupPage);
