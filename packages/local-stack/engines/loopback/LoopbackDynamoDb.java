import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import software.amazon.dynamodb.services.local.main.ServerRunner;

/** Starts DynamoDB Local on loopback: it has no option for that, and listens on all interfaces by itself. */
public final class LoopbackDynamoDb {
  public static void main(String[] arguments) throws Exception {
    var dynamoDb = ServerRunner.createServerFromCommandLineArgs(arguments);
    var field = dynamoDb.getClass().getDeclaredField("server");
    field.setAccessible(true);
    var server = (Server) field.get(dynamoDb);
    for (Connector connector : server.getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    server.setHandler(new LoopbackHostsOnly(server.getHandler()));
    dynamoDb.start();
    dynamoDb.join();
  }

  /** A page in a browser reaches loopback by a name of its own that leads there: it sends that name. */
  private static final class LoopbackHostsOnly extends Handler.Wrapper {
    LoopbackHostsOnly(Handler handler) {
      super(handler);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
      var host = Request.getServerName(request);
      if ("127.0.0.1".equals(host) || "localhost".equals(host)) {
        return super.handle(request, response, callback);
      }
      response.setStatus(HttpStatus.FORBIDDEN_403);
      callback.succeeded();
      return true;
    }
  }
}
