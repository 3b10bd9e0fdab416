import { expect, test } from "vitest";
import { describeOnTables } from "../../support/engines.ts";
import { eraserFixture } from "../support/eraser-fixture.ts";
import { erasedAt } from "../support/erasing.ts";

await describeOnTables("a user", (tables) => {
  const fixture = eraserFixture(tables);
  const { storeAll, erase, report } = fixture;

  test.each([
    { status: 403, errorType: "AccessDenied" },
    { status: 400, errorType: "KMS.DisabledException" },
  ])(
    "is erased incompletely where S3 refuses a body with $status $errorType, until it gives it",
    async (refusal) => {
      const { overflow, put } = fixture.fixture;
      await storeAll();
      await put(overflow.name, "bodies/users/refused", JSON.stringify({ account_holder: fixture.user.id }));
      const recover = fixture.system.intercept(async ({ action, resources }, phase) =>
        phase === "before" && action === "s3:GetObject" && resources.some((arn) => arn.endsWith("/refused"))
          ? { ...refusal, message: "injected by the test" }
          : undefined,
      );
      await erase(fixture.user);
      expect(await report()).toMatchObject({
        isDone: true,
        incomplete: ["large bodies that S3 refuses to give"],
      });
      recover();
      await erase(fixture.user);
      expect(await overflow.keys()).not.toContain("bodies/users/refused");
    },
  );

  test("goes from archived dead letters of a subscriber that was removed, and no failed erasure does", async () => {
    const { archive, archivedDeadLetters } = fixture.fixture;
    const letter = (messageId: string, id: string) => ({
      messageId,
      sentAt: erasedAt,
      receives: 1,
      body: JSON.stringify({ subject: `account/x`, owner: id }),
    });
    await archivedDeadLetters.put("subscriber/removed", letter("m-1", fixture.user.id));
    await archivedDeadLetters.put("subscriber/removed", letter("m-2", fixture.other.id));
    await archivedDeadLetters.put("erase", letter("m-3", fixture.user.id));
    await erase(fixture.user);
    expect(await archive.keys()).toEqual([
      expect.stringContaining("dead-letters/erase/"),
      expect.stringContaining("m-2"),
    ]);
    expect(await report()).toMatchObject({ removed: { "dead letters of removed queues": 1 } });
  });
});
