import { Page } from '../parts/Page';
import { Empty } from '../parts/States';

// Everything below /guidelines.
export default function Guidelines() {
  return (
    <Page title="Guidelines">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
