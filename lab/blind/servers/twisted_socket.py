"""Twisted that asks a server over a Unix socket for each request: twisted_socket.py PORT SOCKET"""

import sys

from twisted.internet import endpoints, reactor
from twisted.web import client, resource, server

port, path = sys.argv[1:]


class Behind:
    def endpointForURI(self, uri):
        return endpoints.UNIXClientEndpoint(reactor, path)


agent = client.Agent.usingEndpointFactory(reactor, Behind())


class Ask(resource.Resource):
    isLeaf = True

    def render_GET(self, request):
        gone = []
        request.notifyFinish().addErrback(gone.append)

        def finish(status, body):
            if not gone:
                request.setResponseCode(status)
                request.setHeader("Content-Length", str(len(body)))
                request.write(body)
                request.finish()

        asked = agent.request(b"GET", b"http://behind/").addCallback(client.readBody)
        asked.addCallbacks(lambda body: finish(200, body), lambda failure: finish(502, b"failed"))
        return server.NOT_DONE_YET


reactor.listenTCP(int(port), server.Site(Ask()), backlog=1024)
reactor.run()
