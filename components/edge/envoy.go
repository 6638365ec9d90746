package edge

import (
	"fmt"
	"maps"
	"strconv"

	"onedoor/internal/az/flows"
	"onedoor/internal/door"
	"onedoor/internal/kube"
	"onedoor/internal/kube/pod"
)

// object is a message of Envoy's configuration, as JSON.
// https://www.envoyproxy.io/docs/envoy/latest/api-v3/api
type object = map[string]any

// callSeconds is how long a call may take: as long as Ray's own ingress lets it.
// https://docs.ray.io/en/latest/serve/llm/troubleshooting.html
const callSeconds = 600

// Names within the configuration.
const (
	loginCluster = "login"
	adminCluster = "admin"
	modelPrefix  = "model-" // of the clusters of models
	payload      = "token"  // where the filter of tokens leaves their claims for the next
)

// adminPort is for the pod itself alone.
const adminPort = 9901

// loginHost is where Entra publishes the keys of its tokens.
const loginHost = "login.microsoftonline.com"

// typed is a message of a type that Envoy looks up by its name.
func typed(name string, message object) object {
	out := object{"@type": "type.googleapis.com/" + name}
	maps.Copy(out, message)
	return out
}

// The types of the messages that are looked up.
const (
	filters    = "envoy.extensions.filters.http."
	transports = "envoy.extensions.transport_sockets.tls.v3."
)

// bootstrap is the whole configuration.
func (a Args) bootstrap(caller string) object {
	clusters := []any{cluster(loginCluster, loginHost, 443, tlsTo(loginHost)), cluster(adminCluster, "127.0.0.1", adminPort, nil)}
	for _, model := range a.Models {
		host := fmt.Sprintf("%s-serve-svc.%s.svc.cluster.local", model, kube.Serving) // as the operator names it
		clusters = append(clusters, cluster(modelPrefix+model, host, pod.Port(flows.ServingPort), nil))
	}
	return object{
		"admin": object{"address": address("127.0.0.1", adminPort)},
		"static_resources": object{
			"listeners": []any{
				listener(door.PortName, door.Port, tlsFrom(), a.doorRoutes(), a.authentication(), authorisation(caller)),
				listener(pod.StatusTag, pod.Port(flows.MetricsPort), nil, statusRoutes()),
			},
			"clusters": clusters,
		},
		// Beyond these, connections are refused, and the gateway tries elsewhere.
		"overload_manager": object{"resource_monitors": []any{object{
			"name": "envoy.resource_monitors.global_downstream_max_connections",
			"typed_config": typed("envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig", object{
				"max_active_downstream_connections": "10000",
			}),
		}}},
	}
}

func address(host string, port int) object {
	return object{"socket_address": object{"address": host, "port_value": port}}
}

// listener answers on a port by routes, after filters.
func listener(name string, port int, transport object, routes []any, before ...object) object {
	chain := object{"filters": []any{object{
		"name": "envoy.filters.network.http_connection_manager",
		"typed_config": typed("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", object{
			"stat_prefix":    name,
			"codec_type":     "AUTO",
			"normalize_path": true, "merge_slashes": true, "path_with_escaped_slashes_action": "REJECT_REQUEST", // what is routed is what is called
			"request_timeout":              strconv.Itoa(callSeconds) + "s",
			"stream_idle_timeout":          strconv.Itoa(callSeconds) + "s",
			"delayed_close_timeout":        "1s",
			"use_remote_address":           true, // headers of callers say nothing about where they are
			"server_header_transformation": "APPEND_IF_ABSENT",
			"http_filters":                 append(filtersOf(before), object{"name": "envoy.filters.http.router", "typed_config": typed(filters+"router.v3.Router", nil)}),
			"route_config": object{"name": name, "virtual_hosts": []any{object{
				"name": name, "domains": []any{"*"}, "routes": routes,
			}}},
		}),
	}}}
	if transport != nil {
		chain["transport_socket"] = transport
	}
	return object{"name": name, "address": address("0.0.0.0", port), "filter_chains": []any{chain}}
}

func filtersOf(list []object) []any {
	out := []any{}
	for _, f := range list {
		out = append(out, f)
	}
	return out
}

// tlsFrom shows the certificate, and a new one as soon as it is mounted.
// https://www.envoyproxy.io/docs/envoy/latest/configuration/security/secret
func tlsFrom() object {
	return object{"name": "envoy.transport_sockets.tls", "typed_config": typed(transports+"DownstreamTlsContext", object{
		"common_tls_context": object{
			"tls_params":     object{"tls_minimum_protocol_version": "TLSv1_2"},
			"alpn_protocols": []any{"h2", "http/1.1"},
			"tls_certificate_sds_secret_configs": []any{object{
				"name": certificateName, "sds_config": object{"path_config_source": object{"path": configPath + "/" + certificateFile}, "resource_api_version": "V3"},
			}},
		},
	})}
}

// certificateName is that of the certificate within the configuration.
const certificateName = "door"

// certificate is the file that says where the certificate is.
func certificate() object {
	file := object{"filename": tlsPath + "/" + tlsFile}
	return object{"resources": []any{typed(transports+"Secret", object{
		"name":            certificateName,
		"tls_certificate": object{"certificate_chain": file, "private_key": file, "watched_directory": object{"path": tlsPath}},
	})}}
}

// tlsTo checks the certificate of a host on the internet.
func tlsTo(host string) object {
	return object{"name": "envoy.transport_sockets.tls", "typed_config": typed(transports+"UpstreamTlsContext", object{
		"sni": host,
		"common_tls_context": object{"validation_context": object{
			"trusted_ca":                    object{"filename": "/etc/ssl/certs/ca-certificates.crt"},
			"match_typed_subject_alt_names": []any{object{"san_type": "DNS", "matcher": object{"exact": host}}},
		}},
	})}
}

// cluster is somewhere to connect to. Nothing is tried again here: the gateway
// knows other places to try.
func cluster(name, host string, port int, transport object) object {
	out := object{
		"name": name, "type": "STRICT_DNS", "connect_timeout": "5s", "dns_lookup_family": "V4_ONLY",
		"load_assignment": object{"cluster_name": name, "endpoints": []any{object{"lb_endpoints": []any{object{"endpoint": object{"address": address(host, port)}}}}}},
	}
	if transport != nil {
		out["transport_socket"] = transport
	}
	return out
}

// doorRoutes are the models by the first part of the path, which they do not get to
// see. Every other path is answered 404.
func (a Args) doorRoutes() []any {
	routes := []any{}
	for _, model := range a.Models {
		routes = append(routes, object{
			"match": object{"prefix": "/" + model + "/v1/"},
			"route": object{"cluster": modelPrefix + model, "prefix_rewrite": "/v1/", "timeout": strconv.Itoa(callSeconds) + "s"},
		})
	}
	return routes
}

// statusRoutes are what a pod says of itself.
func statusRoutes() []any {
	route := func(path, to string) object {
		return object{"match": object{"path": path}, "route": object{"cluster": adminCluster, "prefix_rewrite": to}}
	}
	return []any{route(pod.Health, "/server_info"), route(pod.Ready, "/ready"), route("/metrics", "/stats/prometheus")}
}

// authentication takes tokens that the tenant issued for the edge, of either
// version, and keeps them from the models.
// https://learn.microsoft.com/entra/identity-platform/access-tokens
func (a Args) authentication() object {
	provider := func(issuer string) object {
		return object{
			"issuer": issuer, "audiences": []any{a.Audience}, "payload_in_metadata": payload, "forward": false,
			"remote_jwks": object{
				"http_uri":       object{"uri": "https://" + loginHost + "/" + a.TenantID + "/discovery/v2.0/keys", "cluster": loginCluster, "timeout": "5s"},
				"cache_duration": "3600s",
				"async_fetch":    object{}, // a pod without keys is not ready
				"retry_policy":   object{"num_retries": 3},
			},
		}
	}
	return object{"name": "envoy.filters.http.jwt_authn", "typed_config": typed(filters+"jwt_authn.v3.JwtAuthentication", object{
		"providers": object{
			"v1": provider("https://sts.windows.net/" + a.TenantID + "/"),
			"v2": provider("https://" + loginHost + "/" + a.TenantID + "/v2.0"),
		},
		"rules": []any{object{
			"match":    object{"prefix": "/"},
			"requires": object{"requires_any": object{"requirements": []any{object{"provider_name": "v1"}, object{"provider_name": "v2"}}}},
		}},
	})}
}

// authorisation lets one principal in: a token of the tenant says who somebody is,
// not that he may call models.
func authorisation(caller string) object {
	return object{"name": "envoy.filters.http.rbac", "typed_config": typed(filters+"rbac.v3.RBAC", object{
		"rules": object{"action": "ALLOW", "policies": object{"gateway": object{
			"permissions": []any{object{"any": true}},
			"principals": []any{object{"sourced_metadata": object{"metadata_matcher": object{
				"filter": "envoy.filters.http.jwt_authn",
				"path":   []any{object{"key": payload}, object{"key": "oid"}}, // the object id, in tokens of both versions
				"value":  object{"string_match": object{"exact": caller}},
			}}}},
		}}},
	})}
}
